public import Installation
public import Pipeline

/// The process that the console is a part of: its roles, and how far each is.
public struct ConsoleProcess: Sendable {
  /// The roles of the process.
  public var roles: [Role]
  /// The threads that the process is to have. Of a role without threads nothing is known but that the process has it.
  public var threads: [PipelineStatus.StageThread]
  /// Returns the status of the threads.
  public var status: @Sendable () -> PipelineStatus.StatusSnapshot

  /// Describes a process.
  public init(
    roles: [Role], threads: [PipelineStatus.StageThread],
    status: @escaping @Sendable () -> PipelineStatus.StatusSnapshot
  ) {
    self.roles = roles
    self.threads = threads
    self.status = status
  }
}
