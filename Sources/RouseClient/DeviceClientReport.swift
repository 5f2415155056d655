/// Something that an app may want to log, or to show to its developers.
public enum DeviceClientReport: Sendable, Equatable {
  /// The gateway has refused a registration for good. It is sent again after the next update.
  case registrationRefused(status: Int, words: String)
  /// The gateway has refused a signal for good. It is not sent again.
  case signalRefused(type: String, status: Int, words: String)
  /// The queue was full, and the oldest signals were dropped.
  case signalsDropped(count: Int)
  /// Signals could not be read any longer, such as after a crash of the system, and were removed.
  case signalsDamaged(count: Int)
  /// The state could not be understood, and was begun anew. The registration is lost until the next update.
  case stateDamaged
  /// The gateway does not accept the authorization. The client keeps everything and tries again.
  case unauthorized(status: Int, words: String)
  /// An attempt failed. `status` is 0 if there was no answer.
  case delayed(status: Int, words: String, pause: Duration)
  /// The disk failed while the client was sending. It tries again.
  case storageFailed(DeviceClientError)
}

/// The state of a client, as its folder has it for all processes.
public struct DeviceClientStatus: Sendable, Equatable {
  /// The signals that wait.
  public var waitingSignals: Int
  /// Whether a registration, or the wish to be forgotten, waits.
  public var isRegistrationWaiting: Bool
  /// The failed attempts since the last that worked.
  public var failures: Int
  /// The signals that were dropped in all, because the queue was full.
  public var droppedSignals: Int
  /// The signals and states in all that could not be read any longer.
  public var damagedFiles: Int
  /// The signals and registrations in all that the gateway refused for good.
  public var refusals: Int
}

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
