/// The state of one planner thread.
///
///     new ── connected ──► working ── failed ──► failed
///      │                      │                     │
///      │ closed               │ closed              │ closed
///      └──────────────────────┴─────────────────────┴──────► ended
///
/// Only a working thread commits. A thread that failed commits nothing more, not even while it leaves its group; the
/// supervisor (`RoleRunner`) ends it and makes a new worker. A rebalance callback, which cannot throw, fails the thread
/// by this transition, and the turn that ran the callback throws the error.
enum WorkerPhase<Clients> {
  /// Nothing is connected yet.
  case new
  /// The thread reads, plans and commits.
  case working(Clients)
  /// The thread cannot continue; the error says why.
  case failed(Clients, PipelineError)
  /// Everything is released.
  case ended

  /// An event in the life of the thread.
  enum Input {
    /// The clients were made.
    case connected(Clients)
    /// A failure occurred that aborting the transaction does not repair.
    case failed(PipelineError)
    /// The clients were closed.
    case closed
  }

  /// The clients, as long as they are open.
  var clients: Clients? {
    switch self {
    case .working(let clients), .failed(let clients, _): clients
    case .new, .ended: nil
    }
  }

  /// Returns the phase that follows an input.
  ///
  /// - Parameter input: The event that happened.
  /// - Returns: The next phase, or nil if the input is illegal in this phase.
  func after(_ input: Input) -> WorkerPhase? {
    switch (self, input) {
    case (.new, .connected(let clients)): .working(clients)
    case (.working(let clients), .failed(let error)): .failed(clients, error)
    case (.new, .closed), (.working, .closed), (.failed, .closed): .ended
    case (.new, .failed), (.working, .connected), (.failed, .connected), (.failed, .failed), (.ended, _): nil
    }
  }

  /// Goes to the phase that follows an input, which must be legal.
  ///
  /// - Parameter input: The event that happened.
  mutating func take(_ input: Input) {
    guard let next = after(input) else {
      preconditionFailure("a planner thread cannot be \(input) while it is \(self)")
    }
    self = next
  }
}
