import Domain
import Installation
import KafkaClient
import Operating

/// The checks of settings, topics and permissions: the way to the cluster.
extension DoctorFacts {
  @Sendable static func settingsFindings(_ facts: DoctorFacts) -> [Finding] {
    var findings: [Finding] = []
    let settings = facts.settings
    findings.add(.settingsRefused, settings.refusal.map { [$0] } ?? [])
    findings.add(.secretUnreadable, settings.unreadable)
    findings.add(.tokensUnchecked, settings.tokenFaults)
    findings.add(.fileOpen, settings.open)
    findings.add(.propertyUnused, settings.unused)
    return findings
  }

  @Sendable static func topicFindings(_ facts: DoctorFacts) -> [Finding] {
    var findings: [Finding] = []
    findings.add(.brokerAway, facts.brokerFailure.map { [$0] } ?? [])
    guard let cluster = facts.cluster else { return findings }
    let problems = Dictionary(grouping: cluster.problems, by: \.sort)
    findings.add(.topicMissing, problems[.missing, default: []].map(\.topic))
    findings.add(
      .topicPartitions,
      problems[.partitions, default: []].map { "\($0.topic): expected \($0.expected), found \($0.found)" })
    findings.add(
      .topicCompaction,
      problems[.compaction, default: []].map { "\($0.topic), \($0.what): expected \($0.expected), found \($0.found)" })
    let settings = problems[.setting, default: []]
    for severity in FindingSeverity.allCases {
      findings.add(
        .topicSetting,
        settings.filter { harm(of: $0) == severity }.map {
          "\($0.topic): \($0.what) is \($0.found), expected \($0.expected)"
        }, as: severity)
    }
    findings += copies(cluster)
    findings.add(.notChecked, cluster.unseen.map { "\($0.what): \($0.reason)" })
    return findings
  }

  /// Whether a setting of a topic does harm, or only keeps or takes more than is needed.
  private static func harm(of problem: TopicProblem) -> FindingSeverity {
    let (expected, found) = (Int64(problem.expected), Int64(problem.found))
    switch problem.what {
    case "cleanup.policy", "message.timestamp.type": return .wrong
    case "retention.ms", "delete.retention.ms", "max.message.bytes":
      // A retention below 0 keeps records for ever.
      guard let expected, let found else { return .wrong }
      if found < 0 { return .warning }
      return expected < 0 || found < expected ? .wrong : .warning
    default: return .warning
    }
  }

  private static func copies(_ cluster: ClusterFacts) -> [Finding] {
    var (leaderless, copies): ([String], [String]) = ([], [])
    for (name, topic) in cluster.topics.sorted(by: { $0.key < $1.key }) {
      let without = topic.partitions.filter { $0.leader == nil }.map(\.id)
      if !without.isEmpty { leaderless.append("\(name): partitions \(list(without))") }
      let behind = topic.partitions.filter { $0.leader != nil && $0.inSyncReplicaCount < $0.replicaCount }.map(\.id)
      if !behind.isEmpty { copies.append("\(name): copies of partitions \(list(behind)) are not up to date") }
      let alone = topic.partitions.filter { $0.replicaCount == 1 }.map(\.id)
      if !alone.isEmpty, cluster.brokers > 1 { copies.append("\(name): one copy of partitions \(list(alone))") }
    }
    var findings: [Finding] = []
    findings.add(.topicLeaderless, leaderless)
    findings.add(.topicReplicas, copies)
    return findings
  }

  @Sendable static func accessFindings(_ facts: DoctorFacts) -> [Finding] {
    var findings: [Finding] = []
    findings.add(
      .accessRefused,
      (facts.cluster?.refusals ?? []).map {
        "\($0.operation.rawValue) on \($0.resource.kind.rawValue) \($0.resource.name)"
      })
    return findings
  }
}
