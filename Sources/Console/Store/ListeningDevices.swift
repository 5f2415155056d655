public import Domain

/// The registrations. The console asks them for the page on which an event is tried, which tells how many devices listen to an interest key, and
/// for the search, the pages of a device and the budget of the overview.
public protocol ListeningDevices: Sendable {
  /// Counts the devices that have an instance of a kind that listens to any of some keys. Called on the thread of a reader.
  ///
  /// - Parameter groups: The kinds, each with its keys.
  /// - Throws: `ListeningDevicesError` if it is not known.
  func count(_ groups: [(kind: String, keys: [String])]) throws(ListeningDevicesError) -> ListeningCounts

  /// Tells how many devices there are, and how many instances they show. Called on the thread of a reader.
  ///
  /// - Throws: `ListeningDevicesError` if it is not known.
  func shown() throws(ListeningDevicesError) -> ShownInstances

  /// Finds the registration of a device. Called on the thread of a reader.
  ///
  /// - Parameter device: The device.
  /// - Throws: `ListeningDevicesError` if it is not known.
  func find(_ device: Identifier) throws(ListeningDevicesError) -> FoundRegistration

  /// Finds the registrations of some devices, of which those that are not registered are left out. Called on the thread of a reader.
  ///
  /// - Parameter devices: The devices.
  /// - Returns: The registrations, and their age in seconds; nil if they are still being read for the first time.
  /// - Throws: `ListeningDevicesError` if they are not known.
  func registrations(
    of devices: [Identifier]
  ) throws(ListeningDevicesError) -> (registrations: [Registration], ageSeconds: Int?)

  /// Finds the newest signals about looks at a device and about fetches of its widgets, newest first, as many as are kept. Their ids mean
  /// nothing. Called on the thread of a reader.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - from: The first instant; nil for any.
  ///   - to: The first instant that is too late; nil for none.
  /// - Throws: `ListeningDevicesError` if they are not known.
  func signals(
    of device: Identifier, from: Timestamp?, to: Timestamp?
  ) throws(ListeningDevicesError) -> [Signal]
}

/// The registration of a device.
public struct FoundRegistration: Sendable, Equatable {
  /// The registration; nil if there is none.
  public var registration: Registration?
  /// The age of the registrations in seconds; nil if they are still being read for the first time.
  public var ageSeconds: Int?

  /// States a registration.
  public init(registration: Registration?, ageSeconds: Int?) {
    self.registration = registration
    self.ageSeconds = ageSeconds
  }
}

/// The numbers of all devices and of what they show.
public struct ShownInstances: Sendable, Equatable {
  public var devices: Int
  /// The placed widgets, placed controls and running activities, by kind.
  public var instances: [String: Int]
  /// The age of the registrations in seconds; nil if they are still being read for the first time.
  public var ageSeconds: Int?

  /// States numbers.
  public init(devices: Int, instances: [String: Int], ageSeconds: Int?) {
    self.devices = devices
    self.instances = instances
    self.ageSeconds = ageSeconds
  }
}

/// The numbers of devices that listen.
public struct ListeningCounts: Sendable, Equatable {
  /// The devices of each kind, in the order of the question.
  public var kinds: [Int]
  /// The devices of all kinds together, each counted once.
  public var devices: Int
  /// The age of the registrations in seconds; nil if they are still being read for the first time.
  public var ageSeconds: Int?

  /// States numbers.
  public init(kinds: [Int], devices: Int, ageSeconds: Int?) {
    self.kinds = kinds
    self.devices = devices
    self.ageSeconds = ageSeconds
  }
}

/// The reason why the registrations are not known.
public struct ListeningDevicesError: Error, Sendable, CustomStringConvertible {
  /// The reason, in words.
  public let description: String

  /// States the reason.
  public init(_ description: String) { self.description = description }
}
