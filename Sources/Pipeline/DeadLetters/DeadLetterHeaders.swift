/// The names of the headers that Rouse adds to a dead letter, to its receipt, and to a replayed record.
enum DeadLetterHeaders {
  static let reason = "rouse-reason"
  static let message = "rouse-message"
  static let originTopic = "rouse-origin-topic"
  static let originPartition = "rouse-origin-partition"
  static let originOffset = "rouse-origin-offset"
  static let originTimestamp = "rouse-origin-timestamp"
  /// The number of bytes of a value that was left out, because the letter did not fit with it.
  static let truncated = "rouse-truncated"
  /// The number of bytes that a key had before it was cut, because the letter did not fit with it.
  static let truncatedKey = "rouse-truncated-key"
  /// The number of original headers that were left out, because the letter did not fit with them.
  static let truncatedHeaders = "rouse-truncated-headers"
  /// The place of the letter in the topic of dead letters. It is added to a replayed record.
  static let replayedFrom = "rouse-replayed-from"
  /// The offset of the letter that was replayed. It is added to the receipt, which is in the partition of the letter.
  static let replayedOffset = "rouse-replayed-offset"
}
