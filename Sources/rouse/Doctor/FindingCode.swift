/// The kinds of findings of `rouse doctor`, the most urgent first. This is the only list of them: the program prints it, and
/// a page of the documentation is made from it.
enum FindingCode: String, CaseIterable, Sendable {
  case settingsRefused = "SETTINGS_REFUSED"
  case secretUnreadable = "SECRET_UNREADABLE"
  case brokerAway = "BROKER_AWAY"
  case topicMissing = "TOPIC_MISSING"
  case topicPartitions = "TOPIC_PARTITIONS"
  case topicLeaderless = "TOPIC_LEADERLESS"
  case accessRefused = "ACCESS_REFUSED"
  case topicSetting = "TOPIC_SETTING"
  case recordsLost = "RECORDS_LOST"
  case positionBeyond = "POSITION_BEYOND"
  case recordsExpire = "RECORDS_EXPIRE"
  case partitionStopped = "PARTITION_STOPPED"
  case processStuck = "PROCESS_STUCK"
  case processUnready = "PROCESS_UNREADY"
  case tokensUnchecked = "TOKENS_UNCHECKED"
  case policyMissing = "POLICY_MISSING"
  case policyRefused = "POLICY_REFUSED"
  case policyDiffers = "POLICY_DIFFERS"
  case auditGaveUp = "AUDIT_GAVE_UP"
  case storeUnusable = "STORE_UNUSABLE"
  case storeMissing = "STORE_MISSING"
  case diskFull = "DISK_FULL"
  case folderClosed = "FOLDER_CLOSED"
  case plannerLag = "PLANNER_LAG"
  case intakeLag = "INTAKE_LAG"
  case auditLag = "AUDIT_LAG"
  case processAway = "PROCESS_AWAY"
  case partitionUnplanned = "PARTITION_UNPLANNED"
  case clockApart = "CLOCK_APART"
  case policyPending = "POLICY_PENDING"
  case policyFile = "POLICY_FILE"
  case storeHoles = "STORE_HOLES"
  case topicReplicas = "TOPIC_REPLICAS"
  case topicCompaction = "TOPIC_COMPACTION"
  case versionsDiffer = "VERSIONS_DIFFER"
  case fileOpen = "FILE_OPEN"
  case propertyUnused = "PROPERTY_UNUSED"
  case notChecked = "NOT_CHECKED"

  /// The place in the list, from 0.
  var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The severities of findings.
enum FindingSeverity: String, CaseIterable, Comparable, Sendable {
  /// Something must be done: the exit code is 1.
  case wrong
  /// Somebody should look at it: with `--strict`, the exit code is 1.
  case warning

  static func < (left: FindingSeverity, right: FindingSeverity) -> Bool { left == .wrong && right == .warning }
}

/// Something that `rouse doctor` found.
struct Finding: Sendable, Equatable {
  /// The kind of finding.
  var code: FindingCode
  /// The severity; never worse than the code allows.
  var severity: FindingSeverity
  /// The places or things that it is about, each as a phrase.
  var places: [String]

  /// States a finding.
  /// - Parameters:
  ///   - code: The kind of finding.
  ///   - places: The places or things that it is about.
  ///   - severity: The severity; nil for the worst that the code allows.
  init(_ code: FindingCode, _ places: [String], as severity: FindingSeverity? = nil) {
    self.code = code
    self.severity = max(severity ?? code.meaning.worst, code.meaning.worst)
    self.places = places
  }

  /// The number of places that are printed for people.
  /// - Beyond: the places are only counted; `--format json` has all of them.
  static let placesMax = 8
}

extension [Finding] {
  /// Adds a finding unless there is no place.
  mutating func add(_ code: FindingCode, _ places: [String], as severity: FindingSeverity? = nil) {
    if !places.isEmpty { append(Finding(code, places, as: severity)) }
  }

  /// The findings, the worst first.
  var ordered: [Finding] {
    enumerated().sorted { left, right in
      let (a, b) = (left.element, right.element)
      return (a.severity == .wrong ? 0 : 1, a.code.rank, left.offset)
        < (b.severity == .wrong ? 0 : 1, b.code.rank, right.offset)
    }.map(\.element)
  }
}
