import KafkaClient

/// Calls of the ports at which something may happen.
enum PortCall: String, CaseIterable {
  case partitionCount, subscribe, poll, committed, commitOffsets, seek, watermarks, assign, membership, close
  case initTransactions, begin, send, producerPoll, flush, sendOffsets, commit, abort
  case sleep, snapshotWrite, snapshotCommit, snapshotOpen, snapshotRead
  case auditPositions, auditStore
}

/// What befalls a process at a call.
enum Mishap: String, CaseIterable {
  /// The process ends before the call has any effect, or right after.
  case crashBefore, crashAfter
  /// The call fails and says that it may be repeated; it had no effect, or all of it.
  case refused, answerLost
  /// The transaction must be aborted.
  case abortable
  /// The client can do nothing any more.
  case fatal
  /// Other processes work before the call goes on; this one's background threads do as well.
  case overtaken
  /// The whole process stands still for longer than its session, or its transaction, lasts; then it goes on.
  case frozen
  /// The app's thread stands still, its background threads do not.
  case delayed
  /// A transactional id's or a group's coordinator moves: for a while nobody is the coordinator.
  case coordinatorMoves
  /// Some of what was queued is given up, as after `message.timeout.ms`.
  case messagesExpire
  /// A part of what was queued has arrived when the time is up.
  case partlySent

  /// Whether the mishap makes sense at a call.
  func mayHappen(at call: PortCall) -> Bool {
    switch self {
    case .crashBefore, .crashAfter, .overtaken, .frozen: true
    case .delayed: [.poll, .commit, .sendOffsets, .flush].contains(call)
    case .refused:
      [
        .partitionCount, .committed, .commitOffsets, .seek, .watermarks, .initTransactions, .send, .sendOffsets,
        .commit, .abort, .flush, .poll, .auditPositions, .auditStore,
      ].contains(call)
    case .answerLost: [.initTransactions, .sendOffsets, .commit, .abort, .commitOffsets, .auditStore].contains(call)
    case .abortable: [.sendOffsets, .commit].contains(call)
    case .fatal: [.sendOffsets, .commit, .producerPoll, .initTransactions].contains(call)
    case .coordinatorMoves:
      [.initTransactions, .sendOffsets, .commit, .abort, .committed, .commitOffsets].contains(call)
    case .messagesExpire: [.flush, .producerPoll, .commit].contains(call)
    case .partlySent: [.flush, .producerPoll].contains(call)
    }
  }
}

/// Decides what befalls processes.
protocol Fate: AnyObject {
  func mishap(at call: PortCall, of process: SimulatedProcess) -> Mishap?
  /// Lets others work while this process is in the middle of a call.
  func interrupt(_ process: SimulatedProcess, by mishap: Mishap)
  /// A number below the bound, for what is left to chance.
  func below(_ bound: Int) -> Int
  /// Counts what happened.
  func note(_ what: String)
}
