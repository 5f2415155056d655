public import Policies

/// Bodies of Live Activity pushes of one step and kind that are near or above the platform's limit.
public struct LargePayload: Equatable, Sendable, CustomStringConvertible {
  /// One member of the body, with its bytes as JSON.
  public struct Member: Equatable, Sendable {
    public var name: String
    public var bytes: Int
  }

  public var kind: String
  /// Id of the first event that led to one.
  public var event: String
  /// `risky`, `allowed` or `refused`.
  public var band: PayloadBand
  /// Of the first one.
  public var bytes: Int
  public var bytesMax: Int
  /// What makes it so, largest first.
  public var members: [Member]
  /// Pushes of the step in this band.
  public var count = 1

  /// Members that are named.
  static let membersMax = 3

  public var description: String {
    let largest = members.map { "\($0.name) \($0.bytes)" }.joined(separator: ", ")
    let warning = band == .refused ? "" : " (\(band.rawValue))"
    return
      "kind \(kind), event \(event): payload of \(bytes) bytes\(warning), at most \(bytesMax) are allowed; largest: \(largest)"
  }
}
