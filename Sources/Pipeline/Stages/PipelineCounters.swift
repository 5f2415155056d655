import Synchronization

/// What the stages of one process have done since they started. Counted per batch.
public final class PipelineCounters: Sendable {
  public enum Counter: Int, CaseIterable, Sendable {
    case eventsAccepted, registrationsAccepted, signalsAccepted, duplicatesDropped, deadLetters
    case logRecordsPlanned, logRecordsSkipped, registrationsPlanned, decisions, commands, stateRecords,
      transactionsCommitted
    case transactionsAborted, ticksAppended, auditedDecisions, auditedCommands, auditRetries, restarts
    case snapshotRecordsRestored, snapshotsDiscarded, intakePauses
  }

  private let values = Mutex<[Int]>(Array(repeating: 0, count: Counter.allCases.count))

  public init() {}

  public func add(_ counter: Counter, _ amount: Int = 1) { values.withLock { $0[counter.rawValue] += amount } }
  public subscript(counter: Counter) -> Int { values.withLock { $0[counter.rawValue] } }
}
