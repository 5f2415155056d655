public import Domain
public import Installation
package import Planning
import Synchronization

/// The status of the stages of one process: which partitions it has and how far each is. May be used from any thread.
///
/// Each planner thread sets its own part, at most once a second; intake and audit threads note each turn. Readers get a copy. So a
/// thread that hangs leaves its last status behind, and the time of its last turn says how old that is.
public final class PipelineStatus: Sendable {
  /// A log partition that a planner thread owns.
  public struct PartitionStatus: Sendable, Equatable {
    /// The state of a partition, as in `PartitionLife`.
    public enum State: String, Sendable, CaseIterable { case waiting, restoring, planning, stopped }

    /// The number of the log partition.
    public var number: Int32
    /// The state of the partition.
    public var state: State
    /// Whether the partition is stopped before a record of a newer release, so that this process must be upgraded.
    public var needsUpgrade = false
    /// The offset of the next record to plan; nil unless the state was read.
    public var next: Int64?
    /// The end of the log as of the last fetch; nil before the first.
    public var end: Int64?
    /// The timestamp of the newest planned record, in µs since 1970. After a restore, before the first record, it is the log time of the
    /// state; nil in a partition without state.
    public var plannedTo: Int64?
    /// The number of devices.
    public var devices = 0
    /// The policy in force; nil unless the state was read.
    public var policy: PolicyReference?
    /// Whether a newer policy of the log was refused.
    public var isPolicyRefused = false
    /// The figures of the last complete sweep over the screens; nil before the first.
    package var figures: ScreenFigures?
    /// The wall clock at the end of that sweep, in µs since 1970; nil before the first, or if log time is the only clock.
    package var sweptAt: Int64?

    /// The size of the state in `rouse.state`; nil unless the state was read.
    package var stateExtent: StateExtent?
    /// The restore that is under way; nil unless the partition is `restoring`.
    package var restoring: RestoreUnderWay?
    /// The time that the restore took with which this process got the partition, in seconds; nil before its end.
    package var restoreSeconds: Double?
    /// The source of the state that this process got with the partition; nil before the end of the restore.
    package var restoredFrom: StateOrigin?
    /// The newest local snapshot of the partition that this process has written or was restored from; nil if there is none.
    package var snapshot: NewestSnapshot?

    /// A source of the state of a partition: its records of `rouse.state` alone, or a local snapshot and the records behind it.
    package enum StateOrigin: Sendable, Equatable { case topic, snapshot }

    /// The number of records that are not planned yet; nil while it is unknown.
    public var lagRecords: Int64? {
      guard let next, let end else { return nil }
      return max(0, end - next)
    }
  }

  /// A restore that is not complete.
  package struct RestoreUnderWay: Sendable, Equatable {
    /// The time since its beginning, in seconds.
    package var seconds: Double
    /// The source that is read now.
    package var source: PartitionStatus.StateOrigin
    /// The offset in `rouse.state` up to which the topic was read; 0 while the snapshot is read.
    package var reached: Int64
    /// The end of the partition of `rouse.state` when the restore began, up to which it is read.
    package var end: Int64
  }

  /// The newest local snapshot of a partition.
  package struct NewestSnapshot: Sendable, Equatable {
    /// The wall clock when it was begun, in µs since 1970.
    package var begunAt: Int64
    /// The time from its beginning until it was in place, in seconds, with the planning meanwhile; nil if another process wrote it.
    package var seconds: Double?
  }

  /// A partition of a public topic that an intake thread has begun to read.
  public struct IntakePartitionStatus: Sendable, Equatable {
    public var topic: String
    /// The number of the partition.
    public var number: Int32
    /// The offset of the next record to read.
    public var next: Int64
    /// The end of the partition as of the last fetch.
    public var end: Int64
    /// The timestamp of the newest record that was read, in µs since 1970; nil if it has none.
    public var readTo: Int64?

    /// The number of records that are not read yet.
    public var lagRecords: Int64 { max(0, end - next) }
  }

  /// A partition that the audit feed reads.
  public struct AuditPartitionStatus: Sendable, Equatable {
    /// `decisions` or `commands`.
    public var topic: String
    /// The number of the partition.
    public var number: Int32
    /// The offset of the next record to store.
    public var next: Int64
    /// The end of the partition as of the last fetch; nil before the first.
    public var end: Int64?
    /// The timestamp of the newest stored record, in µs since 1970. Before the first it is that of the oldest record that waits; nil if
    /// none was read yet.
    public var storedTo: Int64?
  }

  /// The status of one planner thread.
  public struct PlannerStatus: Sendable, Equatable {
    /// Whether the group has given the thread its partitions; they may be none.
    public var hasJoined = false
    /// The time of the last commit, in µs since 1970; nil before the first.
    public var committedAt: Int64?
    /// The partitions that the thread owns, by number.
    public var partitions: [PartitionStatus] = []
  }

  /// A thread of a role.
  public struct StageThread: Sendable, Hashable {
    /// The role of the thread.
    public var role: Role
    /// The number of the thread among those of its role.
    public var number: Int

    /// Names a thread.
    ///
    /// - Parameters:
    ///   - role: The role of the thread.
    ///   - number: The number of the thread among those of its role, from 0.
    public init(role: Role, number: Int) {
      self.role = role
      self.number = number
    }
  }

  /// All of the status at one moment.
  public struct StatusSnapshot: Sendable {
    /// The time of the last turn of each thread that runs, in µs since 1970.
    public var turns: [StageThread: Int64] = [:]
    /// The partitions that each intake thread has begun to read, by the number of the thread.
    public var intake: [Int: [IntakePartitionStatus]] = [:]
    /// The planner threads that run, by number.
    public var planners: [Int: PlannerStatus] = [:]
    /// The partitions that the audit feed reads, by topic and number.
    public var audit: [AuditPartitionStatus] = []
    /// The reason why the audit has given up while the other roles of the process go on; nil while it works.
    public var auditGaveUp: String?
  }

  private let state = Mutex(StatusSnapshot())

  /// Makes the status of a process whose stages have not started.
  init() {}

  /// A copy of the status.
  public var snapshot: StatusSnapshot { state.withLock(\.self) }

  /// Notes a turn of a thread.
  ///
  /// - Parameters:
  ///   - stage: The thread.
  ///   - now: The wall clock, in µs since 1970.
  func turned(_ stage: StageThread, at now: Int64) { state.withLock { $0.turns[stage] = now } }

  /// Sets the lag of an intake thread.
  ///
  /// - Parameters:
  ///   - lag: The partitions that it has begun to read.
  ///   - number: The number of the thread.
  func set(lag: [IntakePartitionStatus], of number: Int) { state.withLock { $0.intake[number] = lag } }

  /// Sets the status of a planner thread, and notes its turn.
  func set(_ planner: PlannerStatus, of number: Int, at now: Int64) {
    state.withLock {
      $0.planners[number] = planner
      $0.turns[StageThread(role: .planner, number: number)] = now
    }
  }

  /// Sets the positions of the audit feed.
  func set(_ audit: [AuditPartitionStatus]) { state.withLock { $0.audit = audit } }

  /// Notes whether the audit has given up while the other roles of the process go on.
  ///
  /// - Parameter reason: The reason; nil when it works again.
  /// - Returns: Whether that is news.
  func set(auditGaveUp reason: String?) -> Bool {
    state.withLock {
      let isNews = $0.auditGaveUp != reason
      $0.auditGaveUp = reason
      return isNews
    }
  }

  /// Forgets a thread that has ended.
  func ended(_ stage: StageThread) {
    state.withLock {
      $0.turns[stage] = nil
      switch stage.role {
      case .planner: $0.planners[stage.number] = nil
      case .audit: $0.audit = []
      case .intake: $0.intake[stage.number] = nil
      case .gateway, .console: break
      }
    }
  }
}
