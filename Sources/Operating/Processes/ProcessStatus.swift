package import Domain
import JSON

/// The answer of a process at `/status`, as far as `rouse doctor` and the console's page about health need it.
package struct ProcessStatus: Sendable, Equatable {
  /// The version of the program.
  package var version = ""
  /// The clock of the process when it answered; nil if it does not tell.
  package var time: Timestamp?
  /// The seconds by which that clock is at least ahead of the caller's; negative if it is behind; 0 if the time that the answer took can be the
  /// difference.
  package var secondsAhead = 0.0
  package var roles: [String] = []
  /// The things that the process does without.
  package var missing: [String] = []
  /// The reasons why the process is not ready.
  package var notReady: [String] = []
  /// The threads by name, each with the seconds since its last turn; nil for one that does not run.
  package var threads: [WorkingThread] = []
  /// The log partitions that the process owns.
  package var partitions: [OwnedPartition] = []

  /// The outcome of asking a process.
  package enum StatusAnswer: Sendable, Equatable {
    /// The process tells.
    case status(ProcessStatus)
    /// The reason why it does not, in words.
    case failure(String)
  }

  /// A thread of the process.
  package struct WorkingThread: Sendable, Equatable {
    /// The role and number, such as `planner thread 0`.
    package var name: String
    /// The seconds since its last turn; nil if it does not run.
    package var secondsSinceTurn: Double?
    /// The reason why it has given up while the other threads go on; nil if it has not.
    package var gaveUp: String?

    /// Makes a thread by its parts.
    package init(name: String, secondsSinceTurn: Double?, gaveUp: String? = nil) {
      self.name = name
      self.gaveUp = gaveUp
      self.secondsSinceTurn = secondsSinceTurn
    }
  }

  /// A log partition of the process.
  package struct OwnedPartition: Sendable, Equatable {
    /// The number of the partition.
    package var number: Int32
    /// The state, as in `rouse_partition_state`.
    package var state: String
    /// The offset of the next record to plan; nil unless the state was read.
    package var next: Int64?
    /// The policy in force; nil if there is none, or the state was not read.
    package var policy: PolicyReference?
    /// Whether a newer policy of the log was refused.
    package var isPolicyRefused = false
    /// The devices; nil if the process does not tell.
    package var devices: Int?
    /// The records that wait; nil while that is unknown.
    package var lagRecords: Int64?
    /// The restore that is under way, or the one with which the process got the partition; nil before the first.
    package var restore: OwnedRestore?

    /// Makes a partition by its parts.
    package init(
      number: Int32, state: String, next: Int64? = nil, policy: PolicyReference? = nil, isPolicyRefused: Bool = false,
      devices: Int? = nil, lagRecords: Int64? = nil, restore: OwnedRestore? = nil
    ) {
      self.number = number
      self.state = state
      self.next = next
      self.policy = policy
      self.isPolicyRefused = isPolicyRefused
      self.devices = devices
      self.lagRecords = lagRecords
      self.restore = restore
    }
  }

  /// A restore of a partition.
  package struct OwnedRestore: Sendable, Equatable {
    /// Whether it is under way.
    package var isUnderWay: Bool
    /// The source, `topic` or `snapshot`.
    package var source: String?
    /// The time that it took or has taken, in seconds.
    package var seconds: Double?

    /// Makes a restore by its parts.
    package init(isUnderWay: Bool, source: String?, seconds: Double?) {
      self.isUnderWay = isUnderWay
      self.source = source
      self.seconds = seconds
    }
  }

  /// Makes a status by its parts.
  package init(
    version: String = "", roles: [String] = [], missing: [String] = [], notReady: [String] = [],
    threads: [WorkingThread] = [], partitions: [OwnedPartition] = []
  ) {
    self.version = version
    self.roles = roles
    self.missing = missing
    self.notReady = notReady
    self.threads = threads
    self.partitions = partitions
  }

  /// Compares the clock of the process with the caller's.
  ///
  /// - Parameters:
  ///   - asked: The caller's time when it asked.
  ///   - answered: The caller's time when it had the answer. The process told its time between the two.
  package mutating func compareClocks(asked: Timestamp, answered: Timestamp) {
    guard let time else { return }
    secondsAhead = Double(max(0, (time - answered).microseconds) - max(0, (asked - time).microseconds)) / 1_000_000
  }

  /// Reads the body of a page.
  /// - Returns: nil if it is no status of Rouse.
  package init?(json text: String) {
    guard let json = try? JSONValue(parsing: text), case .string(let version)? = json["version"],
      case .array(let threads)? = json["threads"]
    else { return nil }
    self.version = version
    time = json["time"]?.text.flatMap { Timestamp(rfc3339: $0) }
    roles = json["roles"]?.elements.compactMap(\.text) ?? []
    notReady = json["notReady"]?.elements.compactMap(\.text) ?? []
    missing = json["missing"]?.elements.compactMap(\.text) ?? []
    for thread in threads {
      let number = thread["number"]?.whole ?? 0
      self.threads.append(
        WorkingThread(
          name: "\(thread["role"]?.text ?? "unknown") thread \(number)",
          secondsSinceTurn: thread["secondsSinceTurn"]?.number, gaveUp: thread["gaveUp"]?.text))
      partitions += (thread["partitions"]?.elements ?? []).compactMap { OwnedPartition($0) }
    }
  }
}

extension ProcessStatus.OwnedPartition {
  fileprivate init?(_ json: JSONValue) {
    guard let number = json["partition"]?.whole.flatMap({ Int32(exactly: $0) }), let state = json["state"]?.text else {
      return nil
    }
    self.number = number
    self.state = state
    next = json["next"]?.whole
    if let version = json["policy"]?["version"]?.text, let hash = json["policy"]?["hash"]?.text {
      policy = PolicyReference(version: Identifier(version), hash: Identifier(hash))
    }
    isPolicyRefused = json["policy"]?["isRefused"] == .bool(true)
    devices = json["devices"]?.whole.map { Int($0) }
    lagRecords = json["lagRecords"]?.whole
    if let restore = json["restore"] {
      self.restore = ProcessStatus.OwnedRestore(
        isUnderWay: restore["isUnderWay"] == .bool(true), source: restore["from"]?.text,
        seconds: restore["seconds"]?.number)
    }
  }
}

extension JSONValue {
  fileprivate var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }

  fileprivate var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  fileprivate var number: Double? {
    if case .number(let number) = self { number } else { nil }
  }

  fileprivate var whole: Int64? { number.flatMap { Int64(exactly: $0.rounded()) } }
}
