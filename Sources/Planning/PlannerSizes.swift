/// The sizes of a planner's tables, which decide how much room to reserve.
public struct PlannerSizes: Equatable, Sendable {
  /// The number of devices.
  public var devices: Int
  /// The number of instances, including those that are kept only for their ledgers.
  public var instances: Int
  /// The number of interest keys of all instances together. A key counts once for each instance that listens to it.
  public var interests: Int
  /// The number of distinct interest keys.
  public var keys: Int
  /// The size of all ids, tokens and distinct interest keys, in bytes.
  public var textBytes: Int

  /// Creates sizes.
  /// - Parameters:
  ///   - devices: The number of devices.
  ///   - instances: The number of instances, including those that are kept only for their ledgers.
  ///   - interests: The number of interest keys of all instances together.
  ///   - keys: The number of distinct interest keys.
  ///   - textBytes: The size of all ids, tokens and distinct interest keys, in bytes.
  public init(devices: Int, instances: Int, interests: Int, keys: Int, textBytes: Int) {
    self.devices = devices
    self.instances = instances
    self.interests = interests
    self.keys = keys
    self.textBytes = textBytes
  }

  /// Returns the sizes of a larger or smaller fleet of the same composition.
  /// - Parameter factor: The ratio of the fleets' sizes.
  public func scaled(by factor: Double) -> PlannerSizes {
    func scaled(_ size: Int) -> Int { Int(Double(size) * factor) }
    return PlannerSizes(
      devices: scaled(devices), instances: scaled(instances), interests: scaled(interests), keys: scaled(keys),
      textBytes: scaled(textBytes))
  }
}
