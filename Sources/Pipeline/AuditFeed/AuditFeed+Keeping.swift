import Domain
import Installation
import KafkaClient
import Logging

extension AuditFeed {
  /// The number of equal refusals by the audit store, for the content of one record, after which the feed stops trying
  /// to store it.
  /// - Beyond: the record is set aside.
  private static let refusalsMax = 3

  /// The end of an attempt to store something.
  private enum Attempt<Result> {
    case done(Result)
    /// The process was asked to stop, or the store is `unusable`.
    case stopped
    /// The store refused the content as many times as the caller allowed.
    case refused(RecordRefusal)
  }

  /// Stores records, and sets those aside that the store refuses for their content. After a refusal it tries each half
  /// of the records separately, until a single record is refused.
  ///
  /// - Parameters:
  ///   - records: The records, in the order of their partitions.
  ///   - positions: The positions to store with them: in each partition the offset after the last of these records.
  ///   - isSuspect: Whether the store has just refused a larger batch that held these records.
  /// - Returns: Whether the records were stored or set aside; not if the process was asked to stop, or if the store is
  ///   `unusable`.
  func keep(_ records: ArraySlice<AuditRecord>, _ positions: [AuditPosition], isSuspect: Bool = false) -> Bool {
    guard let first = records.first else {
      return untilDone { try sink.store([], positions: positions) } != nil
    }
    let isPart = isSuspect && records.count > 1
    switch attempt(refusalsMax: isPart ? 1 : Self.refusalsMax, { try sink.store(Array(records), positions: positions) })
    {
    case .done:
      let decisions = records.count { if case .decision = $0.content { true } else { false } }
      counters.add(.auditedDecisions, decisions)
      counters.add(.auditedCommands, records.count - decisions)
      return true
    case .stopped: return false
    case .refused(let refusal):
      guard records.count > 1 else { return setAside(first, because: refusal, positions) }
      let middle = records.startIndex + records.count / 2
      return keep(
        records[..<middle], Self.positions(behind: records[..<middle], before: records[middle]), isSuspect: true)
        && keep(records[middle...], positions, isSuspect: true)
    }
  }

  /// Leaves a decision or a command out, and notes the hole in the store.
  private func setAside(
    _ record: AuditRecord, because refusal: RecordRefusal, _ positions: [AuditPosition]
  ) -> Bool {
    let hole = AuditHole(
      topic: record.topic, partition: record.partition, offsets: record.offset..<record.offset + 1,
      line: record.line, cause: .refused, reason: refusal.reason)
    let topic = record.topic == .decisions ? settings.topics.decisions : settings.topics.commands
    counters.add(.auditSetAside)
    logger.report(
      .auditRecordRefused,
      metadata: [
        "place": "\(topic)[\(record.partition)]@\(record.offset)\(record.line.map { " line \($0)" } ?? "")",
        "error": "\(refusal.reason)",
      ])
    return untilDone { try sink.note(hole, positions: positions) } != nil
  }

  /// Returns for each partition the position after the last of the given records. If the record that follows them is of the same
  /// block as the last one, the position of its partition is before that block.
  private static func positions(
    behind records: ArraySlice<AuditRecord>, before following: AuditRecord
  ) -> [AuditPosition] {
    var positions: [AuditPosition] = []
    for record in records {
      let isCut =
        record.offset == following.offset && record.partition == following.partition && record.topic == following.topic
      let position = AuditPosition(
        topic: record.topic, partition: record.partition, next: record.offset + (isCut ? 0 : 1))
      let known = positions.firstIndex { $0.topic == position.topic && $0.partition == position.partition }
      if let known { positions[known] = position } else { positions.append(position) }
    }
    return positions
  }

  /// Repeats work until it succeeds, with pauses that grow from 0.2 s to 10 s. The calling thread waits, so the records
  /// in hand are kept.
  ///
  /// - Returns: The result; nil if the process was asked to stop, or if the store is `unusable`.
  func untilDone<Result>(_ work: () throws -> Result) -> Result? {
    guard case .done(let result) = attempt(refusalsMax: nil, work) else { return nil }
    return result
  }

  /// Repeats work until it succeeds, or until the store has refused its content `refusalsMax` times in a row with the
  /// same words.
  ///
  /// - Parameter refusalsMax: The number of equal refusals that end the attempt; nil to go on for ever.
  private func attempt<Result>(refusalsMax: Int?, _ work: () throws -> Result) -> Attempt<Result> {
    var pause = Duration.milliseconds(200)
    var (last, refusals): (RecordRefusal?, Int) = (nil, 0)
    while true {
      do { return .done(try work()) } catch {
        if let failure = error as? UnusableStore {
          unusable = failure
          return .stopped
        }
        counters.add(.auditRetries)
        // A store that refuses does not make the thread count as stuck: a restart would not help.
        publishStatus()
        let refusal = error as? RecordRefusal
        refusals = refusal != nil && refusal == last ? refusals + 1 : 1
        last = refusal
        if let refusal, let refusalsMax, refusals >= refusalsMax { return .refused(refusal) }
        logger.report(
          .auditStoreRefuses,
          metadata: ["error": "\(error)", "milliseconds": "\(pause.milliseconds)"])
      }
      // In slices, so that a process that is asked to stop ends soon.
      for _ in 0..<pause.milliseconds / 50 where !stop.isAsked { clock.sleep(.milliseconds(50)) }
      if stop.isAsked { return .stopped }
      pause = min(pause * 2, .seconds(10))
    }
  }
}

extension AuditRecord {
  /// The topic that the record was read from.
  fileprivate var topic: AuditTopic {
    switch content {
    case .decision: .decisions
    case .command: .commands
    }
  }
}
