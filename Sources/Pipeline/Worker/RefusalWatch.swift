import KafkaClient

/// The log records that a planner has taken since the last commit.
struct UncommittedRecords: Equatable {
  /// The offset of the first record.
  var first: Int64
  /// The offset of the last record.
  var last: Int64
  /// The number of records. A range of records that was passed over by order counts as one, so this can be less than
  /// the offsets suggest.
  var count: Int
}

/// The treatment of a log record. The broker may refuse the output of a planned record for its size or content,
/// and would refuse it each time. So after every `RefusalWatch.failuresMax` refusals the record gets the next treatment
/// of this list.
enum RecordTreatment: Int, CaseIterable, Sendable {
  /// The record is planned.
  case planned
  /// The record becomes a dead letter and is not planned. Log time passes, and due timers fire.
  case setAside
  /// As `setAside`, but due timers are postponed by up to an hour, because the broker may refuse the output of a due
  /// timer.
  case postponed
  /// Only the position moves past the record. Nothing else is written for it.
  case passedOver
}

/// Finds the record of a log partition whose output the broker refuses, and counts its refusals.
///
/// A transaction holds the output of many records. After a refusal all of them are watched: from then on each is
/// committed alone, in a transaction of its own, until the position is past the last one. So the next refusal shows
/// which record it is about, and the others are committed.
struct RefusalWatch: Equatable {
  /// The number of equal refusals of a log record's output after which the planner tries the next treatment of the
  /// record.
  /// - Beyond: the record is set aside, as a dead letter `SET_ASIDE`; then due timers wait; then the record is passed over.
  static let failuresMax = 3

  /// The record whose output was refused last, while it was alone in its transaction.
  private struct Refused: Equatable {
    var offset: Int64
    var code: KafkaErrorCode
    var failures: Int
  }

  /// The offset of the last record to be committed alone; −1 before the first refusal.
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
