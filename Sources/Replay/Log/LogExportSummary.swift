package import Domain

/// The counts of an export.
package struct LogExportSummary: Sendable, Equatable {
  /// The number of log records that were read, over all partitions.
  package var records = 0
  /// The number of registrations that were written.
  package var devices = 0
  /// The devices among them that were removed later.
  package var removed = 0
  /// The devices among them that the log no longer had.
  package var completed = 0
  /// The number of events that were written.
  package var events = 0
  /// The number of signals that were written.
  package var signals = 0
  /// The number of policies that came into force after the first event. A plan has one policy.
  package var policies = 0
  /// The number of records that could not be read.
  package var unreadable = 0
  /// The place of the first of them, and what was wrong.
  package var firstUnreadable: String?
  /// The log time of the first event or signal that was written.
  package var first: Timestamp?
  /// The log time of the last one.
  package var last: Timestamp?

  /// Notes the log time of an event or signal that was written.
  mutating func note(_ time: Timestamp) {
    first = min(first ?? time, time)
    last = max(last ?? time, time)
  }
}
