/// The headers of a dead letter, which are added to the original key and value.
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
  /// The place among the dead letters of a record that was given back.
  static let replayedFrom = "rouse-replayed-from"
  /// The offset of the letter that a receipt is for.
  static let replayedOffset = "rouse-replayed-offset"
}
