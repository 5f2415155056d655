/// The codes that librdkafka itself gives, in the order of their numbers.
extension KafkaErrorCode {
  /// A response or a batch of records is not what the protocol prescribes (`_BAD_MSG`).
  public static let badMessage = Self(rawValue: -199)
  /// A batch of records could not be decompressed, or uses an unknown codec (`_BAD_COMPRESSION`).
  public static let badCompression = Self(rawValue: -198)
  /// The client, or the consumer, has been closed.
  public static let closed = Self(rawValue: -197)
  /// The connection to a broker failed.
  public static let transportFailed = Self(rawValue: -195)
  /// A broker's host name could not be resolved.
  public static let resolutionFailed = Self(rawValue: -193)
  /// A message was not delivered within `message.timeout.ms`.
  public static let messageTimedOut = Self(rawValue: -192)
  /// The end of a partition was reached.
  public static let partitionEnd = Self(rawValue: -191)
  /// The partition does not exist.
  public static let unknownPartition = Self(rawValue: -190)
  /// The topic does not exist.
  public static let unknownLocalTopic = Self(rawValue: -188)
  /// No broker can be reached.
  public static let allBrokersDown = Self(rawValue: -187)
  /// An argument or a property is invalid.
  public static let invalidArgument = Self(rawValue: -186)
  /// The call did not finish in the time it was given.
  public static let timedOut = Self(rawValue: -185)
  /// The producer's queue is full.
  public static let queueFull = Self(rawValue: -184)
  /// A connection with TLS could not be made, for example because of a certificate (`_SSL`).
  public static let tlsFailed = Self(rawValue: -181)
  /// The group's coordinator is not known yet.
  public static let waitingForCoordinator = Self(rawValue: -180)
  /// An operation of the same kind is still in progress.
  public static let inProgress = Self(rawValue: -178)
  /// Another call of the same producer is still in progress, and must be finished first (`_CONFLICT`).
  public static let conflict = Self(rawValue: -173)
  /// The call is not allowed in the present state.
  public static let wrongState = Self(rawValue: -172)
  /// The broker does not accept the name and password, or the token (`_AUTHENTICATION`).
  public static let authenticationFailed = Self(rawValue: -169)
  /// The group has no committed offset, or the client has none stored.
  public static let noOffset = Self(rawValue: -168)
  /// Waiting in a queue of the client took too long.
  public static let localQueueTimedOut = Self(rawValue: -166)
  /// The broker does not have the feature that the call needs.
  public static let unsupportedFeature = Self(rawValue: -165)
  /// A response or a batch of records ends before it is complete (`_UNDERFLOW`).
  public static let underflow = Self(rawValue: -155)
  /// The call failed for the moment and should be repeated.
  public static let retry = Self(rawValue: -153)
  /// A message was given up before it was sent.
  public static let purgedFromQueue = Self(rawValue: -152)
  /// A message was given up after it was sent; it may have arrived.
  public static let purgedInFlight = Self(rawValue: -151)
  /// The client met an error that it cannot recover from.
  public static let fatal = Self(rawValue: -150)
  /// A gapless producer stopped for good, because a message failed that others were to follow (`_GAPLESS_GUARANTEE`).
  public static let gaplessGuarantee = Self(rawValue: -148)
  /// The consumer was not polled within `max.poll.interval.ms` and left its group.
  public static let pollIntervalExceeded = Self(rawValue: -147)
  /// Another producer with the same transactional id took over, or another consumer with the same `group.instance.id`.
  public static let fenced = Self(rawValue: -144)
  /// The position is no longer in the partition, and `auto.offset.reset` does not allow to choose another.
  public static let offsetResetForbidden = Self(rawValue: -140)
}
