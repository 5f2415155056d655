import Domain

/// The keys of `rouse.state`: a letter, a slash, a name.
///
///     c/<number>   a chunk of devices with their instances, ledgers and the causes that wait; the number is hexadecimal
///     n/<number>   a chunk of notes about subjects; the number is hexadecimal
///     k/<kind>     the usual day learnt for a kind
///     a/<app>      the ledger of an app
///     d/<device>   one device, in local snapshots only
///     m/<hash>     one entry of the subject memory, in local snapshots only; the hash is hexadecimal
///     e/<n>/<key>  a further piece of the record with that key (`SplitRecord`)
///     p/policy     the policy document in force
///     p/clock      log time, the counters of the planner, the hash key, and the size of the state (`StateExtent`)
///     p/position   the position in the log, which the planner's owner writes last in each transaction
///
/// Devices and subjects are many, so they are in chunks (`ChunkLog`). Kinds and apps have records of their own: a partition has few of
/// them, bounded by the policy and `PlannerBounds.kindsMax`; a commit writes only those that changed; and the newest record of a key is all that
/// counts, which is what the topic's cleaner keeps. In chunks they would share the fate of a damaged one.
public enum StateKey {
  static let policy = Array("p/policy".utf8)
  /// The key of the planner's clock. Its value ends with the `StateExtent`. The last transaction of each partition has it.
  public static let clock = Array("p/clock".utf8)

  /// Returns the key of a device.
  static func device(_ id: [UInt8]) -> [UInt8] { Array("d/".utf8) + id }

  /// Returns the key of a chunk.
  /// - Parameters:
  ///   - number: The number of the chunk.
  ///   - sort: The sort of the chunk.
  static func chunk(_ number: Int64, of sort: ChunkSort) -> [UInt8] {
    [sort.rawValue, UInt8(ascii: "/")] + String(number, radix: 16).utf8
  }

  /// Returns the number of a chunk; nil for the key of another record.
  /// - Parameters:
  ///   - key: The key of a record.
  ///   - sort: The sort of the chunk.
  static func number(of key: [UInt8], _ sort: ChunkSort) -> Int64? {
    guard let number = Int64(String(decoding: key.dropFirst(2), as: UTF8.self), radix: 16),
      0..<(Int64.max >> 1) ~= number, chunk(number, of: sort) == key
    else { return nil }
    return number
  }

  /// Returns whether a planner can go on without the record of a key. Without its position, its clock or its policy it
  /// cannot: it would decide again what it has decided, or would have no rules.
  /// - Parameter key: The key of a record of `rouse.state`.
  public static func isDispensable(_ key: [UInt8]) -> Bool { !key.starts(with: "p/".utf8) }

  /// Returns the content of a record, in words for an operator.
  /// - Parameter key: The key of a record of `rouse.state`.
  public static func meaning(of key: [UInt8]) -> String {
    let name = Identifier(decoding: key.dropFirst(2))
    guard key.count > 2, key[1] == UInt8(ascii: "/") else { return "nothing that Rouse writes" }
    if let sort = ChunkSort(rawValue: key[0]) { return sort.meaning }
    switch key[0] {
    case UInt8(ascii: "d"): return "the state of device \(name)"
    case UInt8(ascii: "k"): return "the estimates for kind \(name)"
    case UInt8(ascii: "a"): return "the ledger of app \(name)"
    case UInt8(ascii: "e"): return "a piece of another record"
    case UInt8(ascii: "p"): return "the \(name) of the partition"
    default: return "nothing that Rouse writes"
    }
  }
}
