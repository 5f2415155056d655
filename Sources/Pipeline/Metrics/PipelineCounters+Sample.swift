import Domain
import Observing
import Planning
import Policies

extension PipelineCounters {
  /// Returns the figures of a large process with all roles, made up, to measure an exposition.
  ///
  /// - Parameters:
  ///   - partitions: The number of partitions that the process owns.
  ///   - kinds: The number of kinds of the policy. Each has an objective, and decisions with every reason.
  package static func sample(partitions: Int, kinds: Int) -> PipelineCounters {
    let counters = PipelineCounters(traces: nil)
    let names = (0..<kinds).map { "KindWithALongName\($0)" }
    for name in names { counters.addSample(name) }
    counters.addSampleStatus(partitions: partitions, kinds: names.map(sampleFigures))
    return counters
  }

  /// Adds counts of one kind.
  private func addSample(_ kind: String) {
    for reason in Reason.allCases {
      planning.decisions.add(1_000_000, [kind, (reason.verdict ?? .emit).rawValue, reason.rawValue])
    }
    for ledger in Command.Ledger.allCases { planning.tokens.add(1_000_000, [ledger.rawValue, kind]) }
    for family in [planning.tokensUnspent, planning.objectiveChanges, planning.objectiveChangesInTime] {
      family.add(1_000_000, [kind])
    }
    planning.eventToFetch.add(buckets: OutcomeCounts.fetchBounds.map { _ in 1_000_000 } + [1], sum: 1, [kind])
    planning.pushToFetch.add(buckets: OutcomeCounts.fetchBounds.map { _ in 1_000_000 } + [1], sum: 1, [kind])
    screens.wrongAge.add(buckets: ScreenFigures.ageBounds.map { _ in 1_000_000 } + [1], sum: 1, [kind])
  }

  private static func sampleFigures(_ name: String) -> ScreenFigures.Kind {
    var kind = ScreenFigures.Kind()
    (kind.name, kind.instances, kind.tokenPrices) = (Identifier(name), 1_000_000, 1.0 / 3)
    kind.objective = FreshnessObjective(freshWithin: .minutes(10), share: 0.95, wrongAtLeast: 0.3)
    return kind
  }

  private func addSampleStatus(partitions: Int, kinds: [ScreenFigures.Kind]) {
    var planner = PipelineStatus.PlannerStatus(hasJoined: true, committedAt: 1)
    var audit: [PipelineStatus.AuditPartitionStatus] = []
    for number in 0..<Int32(partitions) {
      var partition = PipelineStatus.PartitionStatus(number: number, state: .planning)
      (partition.next, partition.end, partition.plannedTo, partition.devices) = (1 << 40, 1 << 41, 1, 1_000_000)
      partition.policy = PolicyReference(version: "2026-11-22.1", hash: "0123456789abcdef")
      partition.figures = ScreenFigures(stride: 1)
      partition.figures?.kinds = kinds
      partition.sweptAt = 1
      partition.stateExtent = StateExtent()
      partition.restoreSeconds = 1
      partition.snapshot = PipelineStatus.NewestSnapshot(begunAt: 1, seconds: 1)
      planner.partitions.append(partition)
      for topic in ["decisions", "commands"] {
        audit.append(
          PipelineStatus.AuditPartitionStatus(topic: topic, number: number, next: 1 << 40, end: 1 << 41, storedTo: 1))
      }
    }
    status.set(planner, of: 0, at: 1)
    status.set(audit)
    status.set(
      lag: ["events", "rouse.devices", "rouse.signals"].flatMap { topic in
        (0..<Int32(partitions)).map { number in
          PipelineStatus.IntakePartitionStatus(topic: topic, number: number, next: 1 << 40, end: 1 << 41, readTo: 1)
        }
      }, of: 0)
  }
}
