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
