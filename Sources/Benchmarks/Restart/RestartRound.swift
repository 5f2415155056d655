/// The ways in which a planner process ends.
package enum RestartKind: String, CaseIterable, Sendable {
  /// SIGTERM, then the same process again, alone.
  case ended
  /// SIGKILL, then the same process again, alone.
  case killed
  /// SIGKILL, and another process takes over.
  case killedAndReplaced

  /// The way in which the process ends, in words for a report.
  package var words: String {
    switch self {
    case .ended: "ended in order and started again"
    case .killed: "killed and started again"
    case .killedAndReplaced: "killed, and another process takes over"
    }
  }
}

/// The figure of one end of a process.
package struct RestartRound: Sendable {
  /// The way in which the process ended.
  package var kind: RestartKind
  /// The longest time in which a reader of committed records saw no new decision of a partition.
  package var seconds: Double
}
