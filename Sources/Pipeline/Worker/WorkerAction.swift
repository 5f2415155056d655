import KafkaClient

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
