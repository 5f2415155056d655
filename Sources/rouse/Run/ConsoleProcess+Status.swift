import Console
import Installation
import Operating
import Pipeline

extension ConsoleProcess {
  /// Describes this process.
  ///
  /// - Parameters:
  ///   - roles: The roles of the process.
  ///   - threads: The threads that the process is to have.
  ///   - status: The status of the threads.
  init(roles: [Role], threads: [PipelineStatus.StageThread], _ status: PipelineStatus) {
    self.init { Self.state(roles, threads, status.snapshot) }
  }

  /// Returns the roles and partitions of a process.
  static func state(
    _ roles: [Role], _ threads: [PipelineStatus.StageThread], _ status: PipelineStatus.StatusSnapshot
  ) -> RunningState {
    let running = roles.map { role in
      let threads = threads.filter { $0.role == role }
      guard !threads.isEmpty else { return RunningRole(role) }
      return RunningRole(
        role, threadCount: threads.count, notReady: status.reasonsNotReady(threads),
        oldestTurn: threads.compactMap { status.turns[$0] }.min())
    }
    let partitions = status.planners.values.flatMap(\.partitions).sorted { $0.number < $1.number }
    return RunningState(roles: running, partitions: partitions.map { ProcessStatus.OwnedPartition($0) })
  }
}

extension ProcessStatus.OwnedPartition {
  /// Tells of a partition of this process.
  fileprivate init(_ partition: PipelineStatus.PartitionStatus) {
    self.init(
      number: partition.number, state: partition.state.rawValue, next: partition.next, devices: partition.devices,
      lagRecords: partition.lagRecords,
      restore: partition.restoredFrom.map {
        .init(isUnderWay: false, source: $0 == .topic ? "topic" : "snapshot", seconds: partition.restoreSeconds)
      })
  }
}
