/// The parts of the pipeline that a process can take.
public enum Role: String, CaseIterable, Sendable {
  /// Reads the public topics and appends to the log.
  case intake
  /// Plans the log: decides about events, and writes decisions and commands.
  case planner
  /// Stores decisions and commands, so that questions about them can be answered.
  case audit
  /// Takes events, registrations and signals over HTTP, and writes them to the public topics. Its module is `Gateway`.
  case gateway
  /// Answers questions over HTTP from the audit store, and serves the pages for people. Its module is `Console`.
  case console

  /// The roles of a process that is told none: the whole pipeline, without those that open a port to people and programs.
  public static let defaults: [Role] = [.intake, .planner, .audit]
}
