/// The reason why a client could not do its work on disk. Failures of the network are no errors: the client tries again.
public enum DeviceClientError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A file could not be read or written. Nothing was changed. On a device that was not unlocked since its start this passes.
  case storage(String)
  /// Another process had the lock of the folder for two seconds. Nothing was changed.
  case busy(String)

  /// The reason in lower case.
  public var description: String {
    switch self {
    case .storage(let words), .busy(let words): words
    }
  }
}
