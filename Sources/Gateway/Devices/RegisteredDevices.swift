/// The registrations that are in force, as the gateway can look them up. They may be some seconds old.
public protocol RegisteredDevices: Sendable {
  /// The age in whole seconds: what was written before that can be found. Nil while not everything was read yet.
  var ageSeconds: Int? { get }

  /// Finds a registration. May read the disk; called on a thread that may wait.
  ///
  /// - Parameter device: The device.
  /// - Returns: The registration; nil if there is none.
  /// - Throws: `RegisteredDevicesError` if it cannot be looked up now.
  func find(_ device: String) throws(RegisteredDevicesError) -> RegisteredDevice?
}

/// A registration that is in force.
public struct RegisteredDevice: Sendable, Equatable {
  /// The bundle id of the app.
  public var app: String
  /// The registration, as it was written.
  public var value: [UInt8]

  /// Makes a registration.
  ///
  /// - Parameters:
  ///   - app: The bundle id of the app.
  ///   - value: The registration, as it was written.
  public init(app: String, value: [UInt8]) {
    self.app = app
    self.value = value
  }
}

/// The reason why a registration could not be looked up.
public struct RegisteredDevicesError: Error, Sendable {
  /// The reason in lower case.
  public var words: String

  /// Makes an error.
  ///
  /// - Parameter words: The reason in lower case.
  public init(_ words: String) { self.words = words }
}
