/// The other processes of the installation, as the page about health shows them.
public protocol OtherProcesses: Sendable {
  /// Asks all of them at the same time, and waits for the answers. Called on a thread of its own; the wait is bounded.
  ///
  /// - Returns: The processes, in the order of their addresses.
  func ask() -> [OtherProcess]
}

/// A process that was asked for its status.
public struct OtherProcess: Sendable, Equatable {
  /// The address that was asked.
  public var address: String
  /// The status, or the reason why there is none.
  public var answer: ProcessAnswer

  /// Names a process and its answer.
  public init(address: String, answer: ProcessAnswer) {
    self.address = address
    self.answer = answer
  }

  /// An answer.
  public enum ProcessAnswer: Sendable, Equatable {
    /// The process tells.
    case status(ToldStatus)
    /// The reason why it does not, in words.
    case failure(String)
  }

  /// The status of a process.
  public struct ToldStatus: Sendable, Equatable {
    /// The version of the program.
    public var version: String
    /// The roles, as in the setting `roles`.
    public var roles: [String]
    /// The reasons why it is not ready.
    public var notReady: [String]
    /// The things that it does without.
    public var missing: [String]
    /// The log partitions that it plans.
    public var partitions: [PlannedPartition]

    /// States a status.
    public init(
      version: String, roles: [String], notReady: [String], missing: [String] = [], partitions: [PlannedPartition]
    ) {
      self.version = version
      self.roles = roles
      self.notReady = notReady
      self.missing = missing
      self.partitions = partitions
    }
  }
}

/// A log partition of a process, and how its state was read.
public struct PlannedPartition: Sendable, Equatable {
  /// The number of the partition.
  public var number: Int32
  /// The state, as in `rouse_partition_state`.
  public var state: String
  /// The devices of the partition; nil if it is not known.
  public var devices: Int?
  /// The records that wait; nil if it is not known.
  public var lagRecords: Int64?
  /// The source of the state, `topic` or `snapshot`; nil before the restore.
  public var restoredFrom: String?
  /// The time that the restore took, or has taken so far, in seconds.
  public var restoreSeconds: Double?
  /// Whether the restore is under way.
  public var isRestoring: Bool

  /// States a partition.
  public init(
    number: Int32, state: String, devices: Int?, lagRecords: Int64?, restoredFrom: String?, restoreSeconds: Double?,
    isRestoring: Bool = false
  ) {
    self.number = number
    self.state = state
    self.devices = devices
    self.lagRecords = lagRecords
    self.restoredFrom = restoredFrom
    self.restoreSeconds = restoreSeconds
    self.isRestoring = isRestoring
  }
}
