/// The secret key of the hashes by which a planner tells texts of publishers apart: subjects, event ids and what screens display.
///
/// Without the key nobody can compute two texts with one hash. Each intake thread makes a key up when it starts, and puts it into the
/// first record that it appends to a log partition. A planner takes the key of the first record that it reads, or makes one up if that
/// record has none, keeps it in its state, and passes over all others. So planners need not agree on one, and no decision depends on
/// which it is.
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

  /// The key of planners that read files. Everyone knows it.
  public static let standard = HashKey(low: 0x7265_7573_2d6b_6579, high: 0x6f66_2d72_6f75_7365)
}
