/// How much a planner holds: what its tables need room for.
public struct PlannerSizes: Equatable, Sendable {
  public var devices: Int
  /// With those that are only kept for their ledgers.
  public var instances: Int
  /// Interest keys of all instances.
  public var interests: Int
  /// Different ones among them.
  public var keys: Int
  /// Of ids, tokens and keys.
  public var textBytes: Int

  public init(devices: Int, instances: Int, interests: Int, keys: Int, textBytes: Int) {
    self.devices = devices
    self.instances = instances
    self.interests = interests
    self.keys = keys
    self.textBytes = textBytes
  }

  /// The same mixture of another size.
  public func scaled(by factor: Double) -> PlannerSizes {
    func scaled(_ size: Int) -> Int { Int(Double(size) * factor) }
    return PlannerSizes(
      devices: scaled(devices), instances: scaled(instances), interests: scaled(interests), keys: scaled(keys),
      textBytes: scaled(textBytes))
  }
}
