import Installation

/// The answers to probes, from the status of the stages. An empty list is a yes; each reason is a lower-case phrase.
extension PipelineStatus.StatusSnapshot {
  /// The time without a turn after which a thread counts as stuck, in seconds. The longest turn of a planner thread that can still go on is a
  /// commit that the brokers keep asking to repeat, followed by its abort: two minutes each.
  public static let stuckSeconds = 300

  /// Returns the reasons why the process is not ready, so that an upgrade must not go on to the next one.
  ///
  /// A process is ready when each of its threads works, its planner threads have joined their group, and none of the log partitions
  /// that they own waits for an earlier owner or is being restored. A partition that is stopped before a record that cannot be read is no
  /// reason: waiting does not help it. One that needs an upgrade is in `reasonsOutdated`.
  ///
  /// - Parameter threads: The threads that the process is to have.
  public func reasonsNotReady(_ threads: [PipelineStatus.StageThread]) -> [String] {
    var reasons: [String] = []
    for thread in threads {
      // The process works without it, and says so elsewhere.
      if thread.role == .audit, auditGaveUp != nil { continue }
      guard turns[thread] != nil else {
        reasons.append("\(thread) has not started, or is about to start again after an error")
        continue
      }
      guard thread.role == .planner, let planner = planners[thread.number] else { continue }
      if !planner.hasJoined { reasons.append("\(thread) waits until its group gives it partitions") }
      for partition in planner.partitions {
        switch partition.state {
        case .waiting: reasons.append("log partition \(partition.number) waits until its earlier owner has ended")
        case .restoring: reasons.append("the state of log partition \(partition.number) is being read")
        case .planning, .stopped: break
        }
      }
    }
    return reasons
  }

  /// The reasons why the process is too old: partitions that are stopped before a record of a newer release. Neither waiting nor a
  /// restart helps. But the process is not ready, so that an upgrade backwards does not go on to the next process.
  public var reasonsOutdated: [String] {
    planners.values.flatMap(\.partitions).filter(\.needsUpgrade).map(\.number).sorted().map {
      "log partition \($0) is stopped before a record of a newer release: upgrade this process"
    }
  }

  /// Returns the reasons why the process should be ended and started again: threads that made no turn for `stuckSeconds`.
  ///
  /// - Parameter now: The wall clock, in µs since 1970.
  public func reasonsStuck(at now: Int64) -> [String] {
    let stuck = turns.filter { now - $0.value > Int64(Self.stuckSeconds) * 1_000_000 }
    return stuck.map { "\($0.key) has made no turn for \((now - $0.value) / 1_000_000) s" }.sorted()
  }
}

extension PipelineStatus.StageThread: CustomStringConvertible {
  /// `planner thread 0`.
  public var description: String { "\(role.rawValue) thread \(number)" }
}
