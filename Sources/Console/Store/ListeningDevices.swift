/// The registrations, which know how many devices listen to an interest key. The console asks them for the page on which an event is tried.
public protocol ListeningDevices: Sendable {
  /// Counts the devices that have an instance of a kind that listens to any of some keys. Called on the thread of a reader.
  ///
  /// - Parameter groups: The kinds, each with its keys.
  /// - Throws: `ListeningDevicesError` if it is not known.
  func count(_ groups: [(kind: String, keys: [String])]) throws(ListeningDevicesError) -> ListeningCounts
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

/// The reason why it is not known how many devices listen.
public struct ListeningDevicesError: Error, Sendable, CustomStringConvertible {
  /// The reason, in words.
  public let description: String

  /// States the reason.
  public init(_ description: String) { self.description = description }
}
