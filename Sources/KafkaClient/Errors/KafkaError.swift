/// A failing client, broker or connection.
public struct KafkaError: Error, Sendable, Hashable {
  /// What kind of failure it is.
  public var code: KafkaErrorCode
  /// librdkafka's words for it, with what else is known about the cause.
  public var message: String
  /// What was being done, with `topic[partition]` where known.
  public var operation: String
  /// Whether the client can do nothing any more: close it, and start over with a new one.
  public var isFatal: Bool
  /// Whether the same call may be repeated as it is.
  public var isRetriable: Bool
  /// Whether the transaction in progress must be aborted; the producer can go on after that.
  public var isAbortable: Bool

  /// Makes an error. `isRetriable` goes by the code unless it is given.
  public init(
    code: KafkaErrorCode, message: String, operation: String, isFatal: Bool = false, isRetriable: Bool? = nil,
    isAbortable: Bool = false
  ) {
    self.code = code
    self.message = message
    self.operation = operation
    self.isFatal = isFatal
    self.isRetriable = isRetriable ?? (code.isTransient && !isFatal && !isAbortable)
    self.isAbortable = isAbortable
  }
}

extension KafkaError: CustomStringConvertible {
  /// One lower-case sentence: what was being done, why it failed, the code, and what to do.
  public var description: String {
    var text = "\(operation) failed: \(message) (\(code.name), \(code.rawValue))"
    if isFatal {
      text += "; the client cannot go on, close it and make a new one"
    } else if isAbortable {
      text += "; abort the transaction and begin again"
    } else if isRetriable {
      text += "; this may be tried again"
    }
    return text
  }
}
