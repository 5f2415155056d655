/// The parts of the pipeline that a process can take.
public enum Role: String, CaseIterable, Sendable {
  /// Reads the public topics and appends to the log.
  case intake
  /// Decides.
  case planner
  /// Stores decisions and commands for questions.
  case audit
}
