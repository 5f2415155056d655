public import Domain
import JSON

/// One instance on one budget day under one plan, for an output by days.
public struct BacktestDay: Equatable, Sendable {
  /// The name of the policy or strategy.
  public var plan: String
  /// The name of the kind.
  public var kind: Identifier
  /// The id of the device.
  public var device: Identifier
  /// The id of the instance.
  public var instance: Identifier
  /// The local date on which the day begins: `2013-07-01`.
  public var date: String
  /// The number of tokens that the plan has for the day.
  public var tokens: Int
  /// The number of changes of the truth that the instance displays.
  public var changes: Int
  /// The number of reloads that were paid for.
  public var reloads: Int
  /// The number of looks at the instance on the day, as recorded, or as a view curve leads one to expect.
  public var looks: Double
  /// The looks under the plan, each counted by how wrong the screen was, 0…1.
  public var wrongLooks: Double
  /// The wrong looks without any paid reload; free reloads still happen.
  public var wrongLooksWithout: Double
  /// The least wrong looks that as many reloads as the day has tokens could have left.
  public var wrongLooksOptimum: Double
  /// The wrong looks that the plan set right, as a share of those that could have been set right; nil if there was too
  /// little to gain.
  public var captured: Double?
  /// Whether the day has so many changes that not every one could be a candidate of the optimum.
  public var isThinned: Bool

  /// The day as one JSON object.
  public var json: [UInt8] {
    var json = JSONWriter(reserving: 512)
    json.beginObject()
    json.member("plan", plan)
    json.member("kind", kind)
    json.member("device", device)
    json.member("instance", instance)
    json.member("date", date)
    json.member("tokensPerDay", tokens)
    json.member("changes", changes)
    json.member("reloads", reloads)
    json.member("looks", rounded: looks)
    json.member("wrongLooks", rounded: wrongLooks)
    json.member("wrongLooksWithout", rounded: wrongLooksWithout)
    json.member("wrongLooksOptimum", rounded: wrongLooksOptimum)
    if let captured { json.member("wrongLooksCaptured", rounded: captured) }
    if isThinned { json.member("isThinned", true) }
    json.endObject()
    return json.bytes
  }
}
