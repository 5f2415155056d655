import KafkaClient

/// The calls of the ports at which a fault may happen.
enum PortCall: String, CaseIterable {
  case partitionCount, subscribe, poll, committed, commitOffsets, seek, watermarks, assign, membership, close
  case describeGroup
  case initTransactions, begin, send, producerPoll, flush, sendOffsets, commit, abort
  case sleep, snapshotWrite, snapshotCommit, snapshotOpen, snapshotRead
  case auditPositions, auditStore
}

/// A fault that hits a process at a call.
enum Mishap: String, CaseIterable {
  /// The process dies before the call has any effect, or right after it.
  case crashBefore, crashAfter
  /// The call fails with a retriable error. `refused`: it had no effect. `answerLost`: it had its whole effect.
  case refused, answerLost
  /// The transaction must be aborted.
  case abortable
  /// The client fails for good.
  case fatal
  /// Other processes and this one's background threads work before the call goes on.
  case overtaken
  /// The whole process is frozen, often for longer than its session or its transaction lasts.
  case frozen
  /// The stage's thread is frozen while its background threads work.
  case delayed
  /// Coordinators move: for a while every broker answers `NOT_COORDINATOR`.
  case coordinatorMoves
  /// Some queued messages expire, as after `message.timeout.ms`.
  case messagesExpire
  /// Only a part of the queued messages arrives in time.
  case partlySent

  /// Whether the mishap makes sense at a call.
  func mayHappen(at call: PortCall) -> Bool {
    switch self {
    case .crashBefore, .crashAfter, .overtaken, .frozen: true
    case .delayed: [.poll, .commit, .sendOffsets, .flush].contains(call)
    case .refused:
      [
        .partitionCount, .committed, .commitOffsets, .seek, .watermarks, .describeGroup, .initTransactions, .send,
        .sendOffsets, .commit, .abort, .flush, .poll, .auditPositions, .auditStore,
      ].contains(call)
    case .answerLost: [.initTransactions, .sendOffsets, .commit, .abort, .commitOffsets, .auditStore].contains(call)
    case .abortable: [.sendOffsets, .commit].contains(call)
    case .fatal: [.sendOffsets, .commit, .producerPoll, .initTransactions].contains(call)
    case .coordinatorMoves:
      [.initTransactions, .sendOffsets, .commit, .abort, .committed, .commitOffsets, .describeGroup].contains(call)
    case .messagesExpire: [.flush, .producerPoll, .commit].contains(call)
    case .partlySent: [.flush, .producerPoll].contains(call)
    }
  }
}

/// Decides which faults happen.
protocol Fate: AnyObject {
  func mishap(at call: PortCall, of process: SimulatedProcess) -> Mishap?
  /// Lets other processes work while this one is in the middle of a call.
  func interrupt(_ process: SimulatedProcess, by mishap: Mishap)
  /// Returns a random number below a bound.
  func below(_ bound: Int) -> Int
  /// Counts an event for the coverage.
  func note(_ what: String)
}
