public import Domain
public import Policies

/// A report for operators about Live Activity pushes whose bodies are near or above the platform's limit. It covers the pushes
/// of one step that have the same kind and band.
public struct LargePayload: Equatable, Sendable, CustomStringConvertible {
  /// One member of a body.
  public struct Member: Equatable, Sendable {
    /// The name of the member, such as `alert.title`.
    public var name: Identifier
    /// The size of its value as JSON, in bytes.
    public var bytes: Int
  }

  /// The kind of the activity.
  public var kind: Identifier
  /// The id of the event of the first push.
  public var event: Identifier
  /// `risky`, `allowed` or `refused`.
  public var band: PayloadBand
  /// The size of the first push's body, in bytes.
  public var bytes: Int
  /// The largest size that the platform accepts, in bytes.
  public var bytesMax: Int
  /// The largest members of the first push's body, largest first.
  public var members: [Member]
  /// The number of pushes that the report covers.
  public var count = 1

  /// The number of members that are named at most.
  static let membersMax = 3

  /// The message for an operator.
  public var description: String {
    let largest = members.map { "\($0.name) \($0.bytes)" }.joined(separator: ", ")
    let warning = band == .refused ? "" : " (\(band.rawValue))"
    return
      "kind \(kind), event \(event): payload of \(bytes) bytes\(warning), at most \(bytesMax) are allowed; largest: \(largest)"
  }
}
