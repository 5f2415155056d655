import Domain
import Installation
import KafkaClient
import Operating

/// The checks of lag and clocks.
extension DoctorFacts {
  private typealias Progress = ClusterFacts.PartitionProgress

  /// The ages of the oldest waiting record from which on lag is a warning, and wrong. Seconds. They are those of the alerts
  /// RousePlannerLag, RousePlannerLagLong, RouseAuditLag and RouseAuditLagLong.
  private static func limits(_ role: Role) -> (warning: Double, wrong: Double) {
    role == .audit ? (600, 21_600) : (60, 900)
  }

  /// Returns the finding about the lag of a role; nil for one that reads nothing.
  private static func code(_ role: Role) -> FindingCode? {
    switch role {
    case .intake: .intakeLag
    case .planner: .plannerLag
    case .audit: .auditLag
    case .gateway, .console: nil
    }
  }

  @Sendable static func lagFindings(_ facts: DoctorFacts) -> [Finding] {
    guard let cluster = facts.cluster else { return [] }
    var findings: [Finding] = []
    findings.add(
      .recordsLost,
      cluster.progress.filter { $0.lost > 0 }.map { progress in
        "\(progress.partition): \(Digits.count(Int(progress.lost), "offset")), from \(progress.next ?? 0) to \(progress.low - 1)"
      })
    findings.add(
      .positionBeyond,
      // Intake notices by itself that a topic was made again.
      cluster.progress.filter { $0.role != .intake && $0.next ?? 0 > $0.high }.map { progress in
        "\(progress.partition): the position is \(progress.next ?? 0), the end \(progress.high)"
      })
    findings.add(.recordsExpire, cluster.progress.compactMap { facts.expiry($0, cluster.configurations) })
    for role in Role.allCases {
      let late = cluster.progress.compactMap { progress -> (Progress, Double)? in
        guard progress.role == role, progress.waiting > 0, let age = facts.age(progress), age > limits(role).warning
        else { return nil }
        return (progress, age)
      }.sorted { $0.1 > $1.1 }
      guard let worst = late.first?.1, let code = code(role) else { continue }
      findings.add(
        code,
        late.map { progress, age in
          let begun = progress.next == nil ? ", none was read yet" : ""
          return
            "\(progress.partition): \(Digits.count(Int(progress.waiting), "record")) wait\(progress.waiting == 1 ? "s" : ""), "
            + "the oldest for \(words(seconds: age))\(begun)"
        }, as: worst > limits(role).wrong ? .wrong : .warning)
    }
    return findings
  }

  /// The age of the oldest record that waits, in seconds; nil if it is not known.
  private func age(_ progress: Progress) -> Double? {
    progress.waitingSince.map { Double(now / 1000 - $0) / 1000 }
  }

  /// Words about a record that is soon removed; nil if there is time enough.
  private func expiry(_ progress: Progress, _ configurations: [String: [String: String]]) -> String? {
    guard let configuration = configurations[progress.partition.topic],
      configuration["cleanup.policy"]?.contains("delete") == true,
      let retention = configuration["retention.ms"].flatMap({ Double($0) }), retention > 0,
      progress.waiting > 0, let age = age(progress), age * 1000 > retention / 2
    else { return nil }
    let left = max(0, retention / 1000 - age)
    return "\(progress.partition): the oldest record that waits is removed in \(Self.words(seconds: left))"
  }

  /// The difference of clocks that counts. Seconds. Records and answers take part of a second, or a few on a busy machine.
  private static let clockDifference = 5.0

  @Sendable static func clockFindings(_ facts: DoctorFacts) -> [Finding] {
    var findings: [Finding] = []
    findings.add(
      .clockApart,
      facts.processes.compactMap { process in
        guard let ahead = process.status?.secondsAhead, abs(ahead) > clockDifference else { return nil }
        let side = ahead > 0 ? "ahead of" : "behind"
        return "\(process.address) is at least \(words(seconds: abs(ahead))) \(side) this machine"
      })
    guard let clock = facts.cluster?.clock else { return findings }
    let seconds = Double(clock.localMilliseconds - clock.brokerMilliseconds) / 1000
    if seconds < -clockDifference {
      findings.add(.clockApart, ["this machine is at least \(words(seconds: -seconds)) behind the broker"])
    } else if clock.isFresh, seconds > clockDifference {
      findings.add(.clockApart, ["this machine is about \(words(seconds: seconds)) ahead of the broker"])
    }
    return findings
  }
}
