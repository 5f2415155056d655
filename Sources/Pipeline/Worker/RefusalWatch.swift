import KafkaClient

/// The log records that a planner has taken since the last commit.
struct UncommittedRecords: Equatable {
  /// The offset of the first one.
  var first: Int64
  /// The offset of the last one.
  var last: Int64
  /// The number of records. Offsets have gaps, so it cannot be derived from them.
  var count: Int
}

/// The treatment of a log record. The broker may refuse what planning a record leads to, for its size, time or content; then
/// the same would happen each time. So the record is treated in another way after each `RefusalWatch.failuresMax` refusals.
enum RecordTreatment: Int, CaseIterable, Sendable {
  /// The record is planned.
  case planned
  /// The record becomes a dead letter and is not planned. Log time passes, and due timers fire.
  case setAside
  /// As `setAside`, but due timers are postponed by an hour: what is refused may be what they lead to.
  case postponed
  /// The position moves on behind the record, and nothing else is written.
  case passedOver
}

/// Finds the record of a log partition whose output the broker refuses, and counts its refusals.
///
/// A transaction holds the output of many records. After a refusal all of them are watched: from then on each is committed
/// alone, in a transaction of its own, until the position is behind the last one. So the next refusal tells of which record it
/// is, and the others are committed.
struct RefusalWatch: Equatable {
  /// The number of equal refusals after which a record is treated in the next way.
  /// - Beyond: the record is set aside, as a dead letter `SET_ASIDE`; then due timers wait; then the record is passed over.
  static let failuresMax = 3

  /// The record that was refused last.
  private struct Refused: Equatable {
    var offset: Int64
    var code: KafkaErrorCode
    var failures: Int
  }

  /// The offset of the last record to be committed alone.
  private(set) var last: Int64 = -1
  private var refused: Refused?

  /// Notes a refusal.
  ///
  /// - Parameters:
  ///   - records: The records of this partition that were in the transaction.
  ///   - isAlone: Whether the transaction held nothing else.
  ///   - code: The code of the refusal.
  mutating func note(_ records: UncommittedRecords, isAlone: Bool, _ code: KafkaErrorCode) {
    last = max(last, records.last)
    guard isAlone, records.count == 1 else { return }
    if let known = refused, known.offset == records.first, known.code == code {
      refused?.failures = known.failures + 1
    } else {
      // Another code after the record was set aside is a refusal of what was done instead.
      let earlier = refused.map { $0.offset == records.first ? $0.failures / Self.failuresMax : 0 } ?? 0
      refused = Refused(offset: records.first, code: code, failures: earlier * Self.failuresMax + 1)
    }
  }

  /// Whether the record at an offset is committed alone.
  func isWatched(_ offset: Int64) -> Bool { offset <= last }

  /// Returns the treatment of the record at an offset.
  func treatment(of offset: Int64) -> RecordTreatment {
    guard let refused, refused.offset == offset else { return .planned }
    return RecordTreatment(rawValue: refused.failures / Self.failuresMax) ?? .passedOver
  }
}
