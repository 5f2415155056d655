import Synchronization

/// The counts of what the stages of one process have done since they started. Stages count by batch. May be used from any
/// thread.
public final class PipelineCounters: Sendable {
  /// A thing that is counted. Its name is its key in logs.
  public enum Counter: Int, CaseIterable, Sendable {
    case eventsAccepted, registrationsAccepted, signalsAccepted, duplicatesDropped, deadLetters
    case logRecordsPlanned, logRecordsSkipped, recordsSetAside, registrationsPlanned, decisions, commands, stateRecords,
      transactionsCommitted
    case transactionsAborted, ticksAppended, auditedDecisions, auditedCommands, auditRetries, restarts
    case snapshotRecordsRestored, snapshotsDiscarded, intakePauses, deadLettersRefused, unreadableBatches
    case partitionsStopped, skipsTaken, auditUnreadable, auditSetAside
  }

  private let values = Mutex<[Int]>(Array(repeating: 0, count: Counter.allCases.count))

  /// Makes counters at zero.
  public init() {}

  /// Adds to a count.
  ///
  /// - Parameters:
  ///   - counter: The count.
  ///   - amount: The number to add; not negative.
  public func add(_ counter: Counter, _ amount: Int = 1) {
    assert(amount >= 0, "counts never fall")
    values.withLock { $0[counter.rawValue] += amount }
  }

  /// The present value of a count.
  public subscript(counter: Counter) -> Int { values.withLock { $0[counter.rawValue] } }
}
