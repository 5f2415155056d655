import KafkaClient

/// The state of one planner thread, with the actions that follow from each input.
///
///     new ── connected ──► working ── call failed, abort failed ──► failed
///      │                      │                                        │
///      │ closed               │ closed                                 │ closed
///      └──────────────────────┴────────────────────────────────────────┴──────► ended
///
/// | input | actions while working | actions after a failure |
/// | --- | --- | --- |
/// | `assigned` | wait for earlier owners of these partitions | none |
/// | `revoked` | commit, release these | release these |
/// | `lost` | abort, release these | release these |
/// | `handOverFailed` | abort | none |
/// | `handled` | pause the partitions that wait | end with the error |
/// | `commitDue` | commit | none |
/// | `recordRefused` | abort | none |
/// | `clockRefused` | abort; failed | none |
/// | `callFailed`, an abort repairs it, and no permission is missing | abort | none |
/// | `callFailed`, another Kafka error | abort; failed | none |
/// | `callFailed`, anything else | none; failed | none |
/// | `abortFailed` | none; failed | none |
/// | `stopAsked` | commit, leave the group | none |
/// | `closed` | close | close |
///
/// Only a working thread commits. A thread that failed commits nothing more, not even while it leaves its group; the
/// supervisor (`RoleRunner`) ends it and makes a new worker. Before it has connected, and after it has ended, a thread
/// does nothing for any input of the group.
enum WorkerPhase<Clients> {
  /// Nothing is connected yet.
  case new
  /// The thread reads, plans and commits.
  case working(Clients)
  /// The thread cannot continue; the error says why.
  case failed(Clients, PipelineError)
  /// All clients are closed.
  case ended

  /// An event in the life of the thread.
  enum Input {
    /// The clients were made.
    case connected(Clients)
    /// The group assigned partitions.
    case assigned([Int32])
    /// The group is about to give partitions to other members.
    case revoked([Int32])
    /// Partitions may belong to other members already.
    case lost([Int32])
    /// An action failed that was performed outside of a turn, such as the commit before partitions are released.
    case handOverFailed(PipelineError)
    /// The rebalance callbacks of a poll, or a failed call, have been dealt with.
    case handled
    /// A commit is due (`WorkerSchedule`).
    case commitDue
    /// A call of a turn failed.
    case callFailed(PipelineError)
    /// The broker refused a record for its size or content. After an abort, the records are committed one by one (`RefusalWatch`).
    case recordRefused(KafkaError)
    /// The broker refused a record for its timestamp: the clock of the process is wrong, and the thread pauses.
    case clockRefused(KafkaError)
    /// An abort failed. The error is the one that led to the abort.
    case abortFailed(PipelineError)
    /// The process was asked to stop, and no turn is under way.
    case stopAsked
    /// The thread ends, so its clients must be closed.
    case closed
  }

  /// The clients; nil before they are connected and after they are closed.
  var clients: Clients? {
    switch self {
    case .working(let clients), .failed(let clients, _): clients
    case .new, .ended: nil
    }
  }

  /// Returns what follows from an input.
  ///
  /// - Parameter input: The event that happened.
  /// - Returns: The next phase, and the actions to perform in their order. Nil if the input is illegal in this phase.
  func after(_ input: Input) -> (phase: WorkerPhase, actions: [WorkerAction])? {
    switch self {
    case .new, .ended: afterWithoutClients(input)
    case .working(let clients): afterWorking(input, clients)
    case .failed(_, let error): afterFailure(input, error)
    }
  }

  private func afterWithoutClients(_ input: Input) -> (phase: WorkerPhase, actions: [WorkerAction])? {
    switch (self, input) {
    case (.new, .connected(let clients)): (.working(clients), [.subscribe])
    case (_, .assigned), (_, .revoked), (_, .lost), (_, .stopAsked): (self, [])
    case (_, .closed): (.ended, [])
    case (_, .connected), (_, .handOverFailed), (_, .handled), (_, .commitDue), (_, .callFailed),
      (_, .recordRefused), (_, .clockRefused), (_, .abortFailed):
      nil
    }
  }

  /// Whether the thread can go on after an abort. A missing permission would only be missing again.
  private static func isRepairedByAbort(_ error: KafkaError) -> Bool {
    (error.isAbortable || error.isRetriable && !error.isFatal) && !error.code.refusesPrincipal
  }

  private func afterWorking(
    _ input: Input, _ clients: Clients
  ) -> (phase: WorkerPhase, actions: [WorkerAction])? {
    switch input {
    case .assigned(let partitions): (self, [.wait(partitions)])
    case .revoked(let partitions): (self, [.commit, .release(partitions)])
    case .lost(let partitions): (self, [.abort(nil), .release(partitions)])
    case .handOverFailed(.kafka(let cause)): (self, [.abort(cause)])
    case .callFailed(.kafka(let cause)) where Self.isRepairedByAbort(cause): (self, [.abort(cause)])
    case .recordRefused(let cause): (self, [.abort(cause)])
    case .callFailed(.kafka(let cause)), .clockRefused(let cause): (.failed(clients, .kafka(cause)), [.abort(cause)])
    case .handOverFailed(let error), .callFailed(let error), .abortFailed(let error): (.failed(clients, error), [])
    case .handled: (self, [.pause])
    case .commitDue: (self, [.commit])
    case .stopAsked: (self, [.commit, .leave])
    case .closed: (.ended, [.close])
    case .connected: nil
    }
  }

  private func afterFailure(
    _ input: Input, _ error: PipelineError
  ) -> (phase: WorkerPhase, actions: [WorkerAction])? {
    switch input {
    case .revoked(let partitions), .lost(let partitions): (self, [.release(partitions)])
    case .handled: (self, [.end(error)])
    case .closed: (.ended, [.close])
    case .assigned, .handOverFailed, .commitDue, .callFailed, .recordRefused, .clockRefused, .abortFailed, .stopAsked:
      (self, [])
    case .connected: nil
    }
  }

  /// Goes to the phase that follows an input, which must be legal.
  ///
  /// - Parameter input: The event that happened.
  /// - Returns: The actions to perform, in their order.
  mutating func take(_ input: Input) -> [WorkerAction] {
    guard let (next, actions) = after(input) else {
      preconditionFailure("a planner thread cannot be \(input) while it is \(self)")
    }
    self = next
    return actions
  }
}

/// A step that a planner thread takes after an input (see `WorkerPhase`).
enum WorkerAction: Equatable {
  /// Join the group that reads the log.
  case subscribe
  /// Move these partitions to their first state, `waiting`.
  case wait([Int32])
  /// Pause the partitions that moved to their first state.
  case pause
  /// Write state and positions, and commit the transaction.
  case commit
  /// Abort all planning since the last commit, and move every partition that is not stopped to its first state. The
  /// error is logged; nil logs none.
  case abort(KafkaError?)
  /// Forget these partitions.
  case release([Int32])
  /// Leave the group, and write a snapshot of each partition.
  case leave
  /// End the run with this error.
  case end(PipelineError)
  /// Close all clients.
  case close
}
