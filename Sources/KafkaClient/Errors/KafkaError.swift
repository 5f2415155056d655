/// A failure of a client, a broker or a connection.
public struct KafkaError: Error, Sendable, Hashable {
  /// The kind of failure.
  public var code: KafkaErrorCode
  /// librdkafka's words for the failure, followed by what else is known about its cause.
  public var message: String
  /// The operation that failed, with `topic[partition]` where it is known.
  public var operation: String
  /// Whether the client has become useless: close it, and start over with a new one.
  public var isFatal: Bool
  /// Whether the same call may be repeated unchanged.
  public var isRetriable: Bool
  /// Whether the transaction in progress must be aborted; the producer can continue after that.
  public let isAbortable: Bool
  /// The place in a partition that a consumer could not read; `nil` for failures of anything else.
  public var position: KafkaPosition?

  /// Makes an error.
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: The cause, in lower case.
  ///   - operation: The operation that failed, as a gerund: "committing offsets".
  ///   - isFatal: Whether the client has become useless.
  ///   - isRetriable: Whether the same call may be repeated; `nil` decides by the code.
  ///   - isAbortable: Whether the transaction in progress must be aborted.
  ///   - position: The place in a partition that could not be read.
  public init(
    code: KafkaErrorCode, message: String, operation: String, isFatal: Bool = false, isRetriable: Bool? = nil,
    isAbortable: Bool = false, position: KafkaPosition? = nil
  ) {
    self.code = code
    self.message = message
    self.operation = operation
    self.isFatal = isFatal
    self.isRetriable = isRetriable ?? (code.isTransient && !isFatal && !isAbortable)
    self.isAbortable = isAbortable
    self.position = position
  }

  /// The first offset of a batch of records that librdkafka cannot unpack; `nil` for every other error.
  ///
  /// The partition is stuck: librdkafka 2.0.2 fetches the batch again and again and reports this error each time.
  /// A batch cannot be unpacked when its compressed bytes are damaged, when the codec is unknown
  /// (``KafkaErrorCode/badCompression``), or when it would unpack to more than `receive.message.max.bytes`. The error does not
  /// say where the batch ends. A seek into the batch fails again with the same error and offset. Reading continues only
  /// after a seek behind the last record of the batch.
  public var unreadableBatch: KafkaPosition? {
    code == .badCompression || code == .badMessage ? position : nil
  }
}

extension KafkaError: CustomStringConvertible {
  /// One lower-case sentence: the operation, the cause, the code, and what to do.
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
