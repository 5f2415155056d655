/// The size of a synthetic fleet, and its seed.
public struct FleetOptions: Equatable, Sendable {
  /// The number of devices, 1 to `devicesMax`.
  public var devices: Int
  /// The seed of all random choices.
  public var seed: UInt64
  /// The kinds and subjects of the widgets; nil chooses a template that suits the events.
  public var template: FleetTemplate?

  /// Creates options.
  /// - Parameters:
  ///   - devices: The number of devices, 1 to `devicesMax`.
  ///   - seed: The seed of all random choices.
  ///   - template: The kinds and subjects of the widgets; nil chooses a template that suits the events.
  public init(devices: Int, seed: UInt64, template: FleetTemplate? = nil) {
    self.devices = devices
    self.seed = seed
    self.template = template
  }

  /// The devices of a synthetic fleet. The bound keeps files usable on one machine and device ids readable.
  /// - Beyond: `rouse fleet` refuses the option.
  public static let devicesMax = 100_000_000
}
