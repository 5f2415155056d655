/// The state of one log partition on the planner thread that the group assigned it to.
///
///     assigned ──► waiting ── settled ──► restoring ── restored ──► planning
///                  ▲  │  ▲                    │                        │
///        unsettled └──┘  └────── voided ──────┴──────── voided ────────┘
///                     ▲                       │                     ▲  │ unreadable
///                     │                       │         passed over │  ▼
///                     │                       └── unreadable ───► stopped
///                     └──────────────── voided ────────────────────┘
///     any ── revoked or lost ──► (gone, see `OwnedPartitions`)
///
/// Partitions advance independently; restoring one does not delay another.
enum PartitionLife {
  /// An earlier owner may still commit. From the moment of the assignment the group refuses the offsets of every
  /// earlier owner. But an owner whose offsets were accepted before, and that stopped before the end of its
  /// transaction, may still end that transaction.
  case waiting(OwnerWait)
  /// The state is being read.
  case restoring(PartitionRestore)
  /// The planner decides.
  case planning(PartitionProcessor)
  /// A record cannot be read. The partition waits until an operator orders to pass over it.
  case stopped(StoppedPartition)

  /// An event in the life of a partition.
  enum Input {
    /// The partition starts again: its planner in memory is ahead of what can be committed, reading its state failed,
    /// or an operator ordered to leave a state record out.
    case voided(OwnerWait)
    /// The broker did not confirm at this instant that no earlier owner has an open transaction.
    case unsettled(at: Duration)
    /// No earlier owner can still commit; the restore is about to begin.
    case settled(PartitionRestore)
    /// The state was read completely.
    case restored(PartitionProcessor)
    /// A record cannot be read: of the state, or the next one of the log.
    case unreadable(StoppedPartition)
    /// An operator ordered to pass over the log records that cannot be read.
    case passedOver
  }

  /// The planner; nil while the partition is `waiting` or `restoring`, and when its state stops it.
  var processor: PartitionProcessor? {
    switch self {
    case .planning(let processor): processor
    case .stopped(let stop): stop.processor
    case .waiting, .restoring: nil
    }
  }

  /// The record that stops the partition; nil unless it is `stopped`.
  var stop: StoppedPartition? { if case .stopped(let stop) = self { stop } else { nil } }

  /// Returns the state that follows an input.
  ///
  /// - Parameter input: The event that happened.
  /// - Returns: The next state, or nil if the input is illegal in this state.
  func after(_ input: Input) -> PartitionLife? {
    switch (self, input) {
    case (_, .voided(let wait)): .waiting(wait)
    case (.waiting(let wait), .unsettled(let now)): .waiting(wait.longer(at: now))
    case (.waiting, .settled(let restore)): .restoring(restore)
    case (.restoring(let restore), .restored(let processor)):
      restore.partition == processor.partition ? .planning(processor) : nil
    case (.restoring, .unreadable(let stop)): stop.processor == nil ? .stopped(stop) : nil
    case (.planning(let processor), .unreadable(let stop)): stop.processor === processor ? .stopped(stop) : nil
    case (.stopped(let stop), .passedOver): stop.processor.map { .planning($0) }
    case (.waiting, .restored), (.waiting, .unreadable), (.waiting, .passedOver), (.restoring, .unsettled),
      (.restoring, .settled), (.restoring, .passedOver), (.planning, .unsettled), (.planning, .settled),
      (.planning, .restored), (.planning, .passedOver), (.stopped, .unsettled), (.stopped, .settled),
      (.stopped, .restored), (.stopped, .unreadable):
      nil
    }
  }
}

/// The wait until no earlier owner of a partition can still commit. Instants count from the start of the thread's
/// clock.
struct OwnerWait: Equatable {
  /// The instant when the wait began.
  var since: Duration
  /// The earliest instant at which to ask the broker again.
  var next: Duration
  /// The longest wait for the answer to one question. Other partitions are not planned meanwhile, so it starts short
  /// and doubles up to `timeoutMax`.
  var timeout = Duration.milliseconds(250)

  static let timeoutMax = Duration.seconds(2)
  /// The pause between two questions.
  static let pause = Duration.milliseconds(50)

  /// Returns the wait after one more request without an answer.
  ///
  /// - Parameter now: The instant after the question.
  func longer(at now: Duration) -> OwnerWait {
    OwnerWait(since: since, next: now + Self.pause, timeout: min(timeout * 2, Self.timeoutMax))
  }
}
