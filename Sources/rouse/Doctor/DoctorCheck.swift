/// One check of `rouse doctor`: from facts to findings, without looking at anything by itself.
struct DoctorCheck: Sendable {
  /// The name, one word.
  let name: String
  /// The thing that is checked, as a noun phrase.
  let purpose: String
  /// The codes that the check can find.
  let codes: [FindingCode]
  /// Judges the facts.
  let find: @Sendable (DoctorFacts) -> [Finding]

  /// All checks, in the order in which they are listed.
  static let all = [
    DoctorCheck(
      name: "settings", purpose: "the settings, the files that they name, and who can read these",
      codes: [.settingsRefused, .secretUnreadable, .tokensUnchecked, .fileOpen, .propertyUnused],
      find: DoctorFacts.settingsFindings),
    DoctorCheck(
      name: "topics", purpose: "the brokers, and the topics with their settings and copies",
      codes: [
        .brokerAway, .topicMissing, .topicPartitions, .topicLeaderless, .topicSetting, .topicReplicas, .topicCompaction,
        .notChecked,
      ], find: DoctorFacts.topicFindings),
    DoctorCheck(
      name: "access", purpose: "the permissions of the roles, as far as reading shows them", codes: [.accessRefused],
      find: DoctorFacts.accessFindings),
    DoctorCheck(
      name: "lag", purpose: "how far intake, planners and audit are behind, and what they lose",
      codes: [.recordsLost, .positionBeyond, .recordsExpire, .plannerLag, .intakeLag, .auditLag],
      find: DoctorFacts.lagFindings),
    DoctorCheck(
      name: "processes", purpose: "the running processes, their partitions and their release",
      codes: [
        .partitionStopped, .processStuck, .processUnready, .auditGaveUp, .processAway, .partitionUnplanned,
        .versionsDiffer,
      ], find: DoctorFacts.processFindings),
    DoctorCheck(
      name: "policy", purpose: "the policy in force in all partitions",
      codes: [.policyMissing, .policyRefused, .policyDiffers, .policyPending, .policyFile],
      find: DoctorFacts.policyFindings),
    DoctorCheck(
      name: "clock", purpose: "this machine's clock beside those of brokers and processes",
      codes: [.clockApart],
      find: DoctorFacts.clockFindings),
    DoctorCheck(
      name: "audit", purpose: "the audit store", codes: [.storeUnusable, .storeMissing, .storeHoles, .fileOpen],
      find: DoctorFacts.storeFindings),
    DoctorCheck(
      name: "disk", purpose: "the room for the audit store, for snapshots, and for the files of a gateway or a console",
      codes: [.diskFull, .folderClosed, .fileOpen],
      find: DoctorFacts.diskFindings),
  ]
}

extension DoctorFacts {
  /// The findings of all checks, the worst first.
  var findings: [Finding] { DoctorCheck.all.flatMap { $0.find(self) }.ordered }

  /// Returns a list of numbers such as `0–3, 7`.
  static func list(_ numbers: some Sequence<Int32>) -> String {
    var ranges: [ClosedRange<Int32>] = []
    for number in Set(numbers).sorted() {
      if let last = ranges.last, last.upperBound + 1 == number {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
    return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }.joined(
      separator: ", ")
  }

  /// Returns a time in words: `42 s`, `7 min`, `5 h`, `3 days`.
  /// - Parameter seconds: The time.
  static func words(seconds: Double) -> String {
    switch seconds {
    case ..<120: "\(Int(seconds.rounded(.down))) s"
    case ..<7200: "\(Int(seconds / 60)) min"
    case ..<172_800: "\(Int(seconds / 3600)) h"
    default: "\(Int(min(seconds / 86_400, 1e6))) days"
    }
  }

  /// Returns a size in words: `512 MiB`, `1.5 GiB`.
  /// - Parameter bytes: The size.
  static func words(bytes: Int64) -> String {
    let mebibytes = Double(bytes) / Double(1 << 20)
    return mebibytes < 1024 ? "\(Int(mebibytes.rounded())) MiB" : "\(Digits.decimal(mebibytes / 1024, 1)) GiB"
  }
}
