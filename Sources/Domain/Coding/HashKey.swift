/// The secret key of the hashes by which a planner tells texts of publishers apart: subjects, event ids and what screens display.
///
/// Without the key nobody can compute two texts with one hash. The planner of a log partition without state makes one up, and commits it
/// with its first transaction. Planners need not agree on one, and one that reads a log again may make up another, because no decision
/// depends on which it is.
public struct HashKey: Hashable, Sendable {
  /// The first eight bytes of the key.
  public var low: UInt64
  /// The last eight bytes of the key.
  public var high: UInt64

  /// Creates a key.
  /// - Parameters:
  ///   - low: The first eight bytes.
  ///   - high: The last eight bytes.
  public init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Returns a key that nobody can guess.
  public static func random() -> HashKey { HashKey(low: .random(in: 0 ... .max), high: .random(in: 0 ... .max)) }

  /// The key of planners that read files, and of comparisons of policies. Everyone knows it.
  public static let standard = HashKey(low: 0x7265_7573_2d6b_6579, high: 0x6f66_2d72_6f75_7365)
}
