/// The parts of the pipeline that a process can take.
public enum Role: String, CaseIterable, Sendable {
  /// Reads the public topics and appends to the log.
  case intake
  /// Plans the log: decides about events, and writes decisions and commands.
  case planner
  /// Stores decisions and commands, so that questions about them can be answered.
  case audit
}
