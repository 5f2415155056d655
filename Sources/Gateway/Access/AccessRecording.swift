public import Domain

/// A change of a device that somebody asked for, as the access records have it.
public struct RecordedChange: Sendable, Equatable {
  /// The wall clock.
  public var at: Timestamp
  /// The id of the key, or the subject of the token; nil if the gateway asks for none.
  public var key: String?
  /// The operation, as in `schemas/openapi.yaml`.
  public var operation: String
  /// The device.
  public var device: String
  /// The status code of the answer: 202 in the record that is written before the change, another one if the change then failed.
  public var status: Int
  /// The address of the other end of the connection; nil if it was gone.
  public var client: String?
}

/// An attempt that was refused because of who sent it.
public struct RefusedAttempt: Sendable, Equatable {
  /// The wall clock.
  public var at: Timestamp
  /// The name of the reason, such as `unknownKey`, `missingRole`, `otherApp` or `otherSource`.
  public var cause: String
  /// The id of the key, or the subject of the token; nil if it is not known.
  public var key: String?
  /// The operation, as in `schemas/openapi.yaml`.
  public var operation: String
  /// The status code of the answer.
  public var status: Int
  /// The address of the other end of the connection; nil if it was gone.
  public var client: String?
}

/// The records of who changed a device or was refused, as the gateway writes them.
public protocol AccessRecording: Sendable {
  /// Writes records. They are on the disk when the call returns. Called by one thread at a time, which may wait.
  ///
  /// - Parameter changes: The changes, in their order.
  /// - Throws: `AccessRecordingError` if they cannot be written. None is then.
  func write(_ changes: [RecordedChange]) throws(AccessRecordingError)

  /// Notes an attempt that was refused. Called by any thread, and does not wait.
  ///
  /// - Parameter attempt: The attempt.
  func note(_ attempt: RefusedAttempt)

  /// Writes the attempts that were noted. Called by one thread at a time, which may wait.
  ///
  /// - Throws: `AccessRecordingError` if they cannot be written. They are kept for the next call.
  func writeRefusals() throws(AccessRecordingError)
}

/// The reason why access records cannot be written.
public struct AccessRecordingError: Error, Sendable {
  /// The reason in lower case.
  public var words: String

  /// Makes an error.
  ///
  /// - Parameter words: The reason in lower case.
  public init(_ words: String) { self.words = words }
}
