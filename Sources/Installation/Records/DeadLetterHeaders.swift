/// The names of the headers that Rouse adds to a dead letter, to its receipt, and to a replayed record.
package enum DeadLetterHeaders {
  package static let reason = "rouse-reason"
  package static let message = "rouse-message"
  package static let originTopic = "rouse-origin-topic"
  package static let originPartition = "rouse-origin-partition"
  package static let originOffset = "rouse-origin-offset"
  package static let originTimestamp = "rouse-origin-timestamp"
  /// The number of bytes of a value that was left out, because the letter did not fit with it.
  package static let truncated = "rouse-truncated"
  /// The number of bytes that a key had before it was cut, because the letter did not fit with it.
  package static let truncatedKey = "rouse-truncated-key"
  /// The number of original headers that were left out, because the letter did not fit with them.
  package static let truncatedHeaders = "rouse-truncated-headers"
  /// The place of the letter in the topic of dead letters. It is added to a replayed record.
  package static let replayedFrom = "rouse-replayed-from"
  /// The offset of the letter that was replayed. It is added to the receipt, which is in the partition of the letter.
  package static let replayedOffset = "rouse-replayed-offset"
}

/// The reason codes of dead letters that are not codes of `DomainError`.
package enum DeadLetterReason {
  /// The reason code of a record that the broker or the Kafka client refused for its size or content, or with `timestamps` set to
  /// `event` for its time.
  package static let refused = "REFUSED"
  /// The reason code of a log record that a planner did not plan, because the broker refused what follows from it.
  package static let setAside = "SET_ASIDE"
  /// The reason code of a log record that a planner could not read.
  package static let unreadableLogRecord = "UNREADABLE_LOG_RECORD"
}
