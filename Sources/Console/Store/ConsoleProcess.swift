package import Installation
package import Operating

/// The process that the console is a part of: its roles, and how far each is.
public struct ConsoleProcess: Sendable {
  /// A role of the process.
  package struct RunningRole: Sendable {
    package var role: Role
    /// The number of threads that the process is to have for the role. It is nil for a role without threads: nothing is known of it but
    /// that the process has it.
    package var threadCount: Int?
    /// The reasons why the role is not ready, each as a lower-case phrase.
    package var notReady: [String]
    /// The last turn of the thread that has made none for the longest time, in µs since 1970; nil before the first.
    package var oldestTurn: Int64?

    /// Describes a role.
    package init(_ role: Role, threadCount: Int? = nil, notReady: [String] = [], oldestTurn: Int64? = nil) {
      self.role = role
      self.threadCount = threadCount
      self.notReady = notReady
      self.oldestTurn = oldestTurn
    }
  }

  /// The process at one moment.
  package struct RunningState: Sendable {
    /// The roles of the process.
    package var roles: [RunningRole]
    /// The log partitions of its planners, by number.
    package var partitions: [ProcessStatus.OwnedPartition]

    /// Describes a process.
    package init(roles: [RunningRole], partitions: [ProcessStatus.OwnedPartition] = []) {
      self.roles = roles
      self.partitions = partitions
    }
  }

  /// Returns the roles and partitions as they are now.
  package var state: @Sendable () -> RunningState

  /// Describes a process.
  ///
  /// - Parameter state: Returns the roles and partitions as they are now.
  package init(_ state: @escaping @Sendable () -> RunningState) { self.state = state }
}
