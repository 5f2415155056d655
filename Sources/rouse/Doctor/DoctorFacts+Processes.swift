import ArgumentParser
import Domain
import Installation
import KafkaClient
import Operating
import Policies

/// The checks of running processes and of the policy in force.
extension DoctorFacts {
  /// The time without a turn after which a thread counts as standing still, in seconds: that of the alert RouseThreadStuck.
  private static let stuckSeconds = 60.0

  private typealias Owned = ProcessStatus.OwnedPartition

  /// The partitions of all processes that answered.
  private var owned: [ProcessStatus.OwnedPartition] { processes.compactMap(\.status).flatMap(\.partitions) }

  @Sendable static func processFindings(_ facts: DoctorFacts) -> [Finding] {
    var findings: [Finding] = []
    let answered = facts.processes.compactMap { process in process.status.map { (process.address, $0) } }
    let stopped = facts.owned.filter { $0.state == "stopped" }
    findings.add(
      .partitionStopped, stopped.map { "\(facts.names.log)[\($0.number)]" + ($0.next.map { " at offset \($0)" } ?? "") }
    )
    findings.add(
      .processStuck,
      answered.flatMap { address, status in
        status.threads.filter { $0.secondsSinceTurn ?? 0 > stuckSeconds }.map {
          "\(address): \($0.name) has made no turn for \(words(seconds: $0.secondsSinceTurn ?? 0))"
        }
      })
    findings.add(
      .processUnready, answered.flatMap { address, status in status.notReady.map { "\(address): \($0)" } })
    findings.add(
      .auditGaveUp,
      answered.flatMap { address, status in status.threads.compactMap(\.gaveUp).map { "\(address): \($0)" } })
    for severity in FindingSeverity.allCases {
      findings.add(
        .processAway,
        facts.processes.compactMap { process in
          guard case .failure(let words) = process.answer, process.isNamed == (severity == .wrong) else { return nil }
          return "\(process.address): \(words)"
        }, as: severity)
    }
    let version = Rouse.configuration.version
    findings.add(
      .versionsDiffer,
      answered.filter { $0.1.version != version }.map { "\($0): \($1.version), and this program \(version)" })
    findings.add(.partitionUnplanned, facts.unplanned(answered.count))
    return findings
  }

  /// The log partitions that no process has, if all that were asked have answered.
  private func unplanned(_ answered: Int) -> [String] {
    guard answered > 0, answered == processes.count, roles.contains(.planner),
      let log = cluster?.topics[names.log]?.partitions
    else { return [] }
    let missing = Set(log.map(\.id)).subtracting(owned.map(\.number))
    return missing.isEmpty ? [] : ["\(names.log): partitions \(Self.list(missing))"]
  }

  @Sendable static func policyFindings(_ facts: DoctorFacts) -> [Finding] {
    var findings: [Finding] = []
    // A partition that is waiting or restoring has no policy to report yet.
    let planned = facts.owned.filter { ["planning", "stopped"].contains($0.state) }
    let logged = facts.cluster?.policies ?? [:]
    // A planner without a policy of its log reports the empty one. A partition that stopped at its state has no planner at all.
    let without = planned.filter {
      $0.state == "planning" && ($0.policy ?? Policy.none.reference) == Policy.none.reference
    }
    findings.add(.policyMissing, places(without.map(\.number), facts, ""))
    let refused = planned.filter(\.isPolicyRefused).map(\.number)
    let unusable = logged.filter { $0.value.reference == nil }.map {
      "\(facts.names.log)[\($0.key)]@\($0.value.offset)"
    }
    findings.add(.policyRefused, places(refused, facts, " of running processes") + unusable.sorted())
    findings.add(.policyDiffers, facts.differences(planned, logged))
    findings.add(.policyPending, facts.pending(planned, logged))
    findings.add(.policyFile, facts.policyFile(planned))
    return findings
  }

  private static func places(_ partitions: [Int32], _ facts: DoctorFacts, _ suffix: String) -> [String] {
    partitions.isEmpty ? [] : ["\(facts.names.log): partitions \(list(partitions))\(suffix)"]
  }

  /// The policies of running processes, or of the log, if there are several.
  private func differences(_ planned: [Owned], _ logged: [Int32: ClusterFacts.LoggedPolicy]) -> [String] {
    func words(_ policies: [(PolicyReference, Int32)], _ place: String) -> [String] {
      let groups = Dictionary(grouping: policies, by: \.0).mapValues { $0.map(\.1) }
      guard groups.count > 1 else { return [] }
      return groups.sorted { ($0.value.min() ?? 0) < ($1.value.min() ?? 0) }.map { policy, partitions in
        "\(place) partitions \(Self.list(partitions)): \(policy.version), hash \(policy.hash)"
      }
    }
    let known = planned.filter { $0.policy != Policy.none.reference }
    let running = words(
      known.compactMap { partition in partition.policy.map { ($0, partition.number) } }, "in force in")
    // If all of the log agrees, what is in force only has to catch up.
    let log = words(
      logged.compactMap { number, policy in policy.reference.map { ($0, number) } }, "newest in the log of")
    return log.isEmpty && !pending(planned, logged).isEmpty ? [] : running + log
  }

  /// The partitions whose planner has not read the newest policy yet.
  private func pending(_ planned: [Owned], _ logged: [Int32: ClusterFacts.LoggedPolicy]) -> [String] {
    planned.compactMap { partition in
      guard let policy = logged[partition.number], let next = partition.next, next <= policy.offset else { return nil }
      return "\(names.log)[\(partition.number)]: the policy is at offset \(policy.offset), the planner at \(next)"
    }
  }

  private func policyFile(_ planned: [Owned]) -> [String] {
    guard let policy = settings.policy else { return [] }
    guard let reference = policy.reference else { return ["\(policy.path): \(policy.failure)"] }
    let others = Set(planned.compactMap(\.policy)).filter { $0 != reference && $0 != Policy.none.reference }
    return others.sorted { ($0.version, $0.hash) < ($1.version, $1.hash) }.map { other in
      "\(policy.path): \(reference.version), hash \(reference.hash); in force is \(other.version), hash \(other.hash)"
    }
  }
}
