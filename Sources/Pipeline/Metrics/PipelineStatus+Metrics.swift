import Domain
import Foundation
import Installation
import Observing
import Planning
import Policies

/// The metrics that show the status of the stages. They are set anew for each exposition, so a partition that was given up is not
/// shown any longer.
extension PipelineStatus.StatusSnapshot {
  /// Sets the metrics that are read from the status.
  func show(
    intake: IntakeMetrics, partitions metrics: PartitionMetrics, screens: ScreenMetrics, audit: AuditMetrics,
    stages: StageMetrics
  ) {
    let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
    let partitions = planners.values.flatMap(\.partitions).sorted { $0.number < $1.number }
    func gauge(_ value: (PipelineStatus.PartitionStatus) -> Double?) -> [(labels: [String], value: Double)] {
      partitions.compactMap { partition in value(partition).map { (["\(partition.number)"], $0) } }
    }
    metrics.state.replace(with: partitions.map { (["\($0.number)", $0.state.rawValue], 1) })
    metrics.lagRecords.replace(with: gauge { $0.lagRecords.map { Double($0) } })
    metrics.lagSeconds.replace(with: gauge { Self.lagSeconds($0.lagRecords, $0.plannedTo, now) }, beyond: .maximum)
    metrics.devices.replace(with: gauge { Double($0.devices) })
    showState(metrics, partitions)
    metrics.policy.replace(
      with: partitions.compactMap { partition in
        partition.policy.map { policy in
          (["\(partition.number)", "\(policy.version)", "\(policy.hash)", "\(partition.isPolicyRefused)"], 1)
        }
      }, beyond: .maximum)
    metrics.lastCommit.replace(
      with: planners.compactMap { number, planner in
        planner.committedAt.map { (["\(number)"], Double($0) / 1_000_000) }
      }, beyond: .minimum)
    screens.sweepCompleted.replace(with: gauge { $0.sweptAt.map { Double($0) / 1_000_000 } }, beyond: .minimum)
    screens.sweepStride.replace(with: gauge { $0.figures.map { Double($0.stride) } }, beyond: .maximum)
    show(screens, partitions.compactMap(\.figures))
    show(audit, at: now)
    let sources = self.intake.values.joined()
    intake.lagRecords.replace(with: sources.map { ([$0.topic, "\($0.number)"], Double($0.lagRecords)) })
    intake.lagSeconds.replace(
      with: sources.compactMap { source in
        Self.lagSeconds(source.lagRecords, source.readTo, now).map { ([source.topic, "\(source.number)"], $0) }
      }, beyond: .maximum)
    stages.threads.replace(
      with: Role.allCases.compactMap { role in
        let count = turns.keys.count { $0.role == role }
        return count == 0 ? nil : ([role.rawValue], Double(count))
      })
    stages.turnAge.replace(
      with: turns.map { thread, turn in
        ([thread.role.rawValue, "\(thread.number)"], Double(max(0, now - turn)) / 1_000_000)
      }, beyond: .maximum)
  }

  /// Shows the size of the state, restores and snapshots.
  private func showState(_ metrics: PartitionMetrics, _ partitions: [PipelineStatus.PartitionStatus]) {
    func gauge(_ value: (PipelineStatus.PartitionStatus) -> Double?) -> [(labels: [String], value: Double)] {
      partitions.compactMap { partition in value(partition).map { (["\(partition.number)"], $0) } }
    }
    metrics.stateBytes.replace(
      with: partitions.flatMap { partition -> [(labels: [String], value: Double)] in
        guard let extent = partition.stateExtent else { return [] }
        let number = "\(partition.number)"
        return [
          ([number, PartitionMetrics.allBytes], Double(extent.bytes)),
          ([number, PartitionMetrics.liveBytes], Double(extent.liveBytes)),
        ]
      })
    metrics.lastRestore.replace(with: gauge(\.restoreSeconds), beyond: .maximum)
    metrics.lastSnapshot.replace(with: gauge { $0.snapshot.map { Double($0.begunAt) / 1_000_000 } }, beyond: .minimum)
    metrics.lastSnapshotSeconds.replace(with: gauge { $0.snapshot?.seconds }, beyond: .maximum)
  }

  /// Shows the sums over all partitions of the process, by kind.
  private func show(_ metrics: ScreenMetrics, _ figures: [ScreenFigures]) {
    let kinds = figures.flatMap(\.kinds)
    func gauge(_ family: MetricFamily, _ value: (ScreenFigures.Kind) -> Double) {
      var sums: [Identifier: Double] = [:]
      for kind in kinds { sums[kind.name, default: 0] += value(kind) }
      family.replace(with: sums.sorted { $0.key.text < $1.key.text }.map { ([$0.key.text], $0.value) })
    }
    gauge(metrics.instances) { Double($0.instances) }
    gauge(metrics.wrong) { Double($0.wrong) }
    gauge(metrics.worthPending) { $0.worthPending }
    gauge(metrics.changesExpected) { $0.changesExpected }
    gauge(metrics.worthExpected) { $0.worthExpected }
    gauge(metrics.tokenPrices) { $0.tokenPrices }
    gauge(metrics.tokensLeft) { Double($0.tokensLeft) }
    gauge(metrics.zombies) { Double($0.zombies) }
    showObjectives(metrics, kinds.filter { $0.objective != nil })
  }

  /// Shows the objectives of the kinds that have one. While a new policy reaches the partitions one after the other, one of the two counts.
  private func showObjectives(_ metrics: ScreenMetrics, _ kinds: [ScreenFigures.Kind]) {
    var (shares, times, late): ([String: Double], [String: Double], [String: Double]) = ([:], [:], [:])
    for kind in kinds {
      guard let objective = kind.objective else { continue }
      shares[kind.name.text] = objective.share
      times[kind.name.text] = Double(objective.freshWithin.microseconds) / 1_000_000
      late[kind.name.text, default: 0] += Double(kind.late)
    }
    metrics.objectiveShare.replace(with: Self.series(shares), beyond: .maximum)
    metrics.objectiveFreshWithin.replace(with: Self.series(times), beyond: .minimum)
    metrics.objectiveLate.replace(with: Self.series(late))
  }

  /// Returns the series of kinds in the order of their names, so that the same ones have series of their own each time.
  private static func series(_ values: [String: Double]) -> [(labels: [String], value: Double)] {
    values.sorted { $0.key < $1.key }.map { ([$0.key], $0.value) }
  }

  private func show(_ metrics: AuditMetrics, at now: Int64) {
    func gauge(_ value: (PipelineStatus.AuditPartitionStatus) -> Double?) -> [(labels: [String], value: Double)] {
      audit.compactMap { partition in value(partition).map { ([partition.topic, "\(partition.number)"], $0) } }
    }
    metrics.gaveUp.replace(with: [([], auditGaveUp == nil ? 0 : 1)])
    metrics.position.replace(with: gauge { Double($0.next) }, beyond: .minimum)
    metrics.lagRecords.replace(with: gauge { $0.lagRecords.map { Double($0) } })
    metrics.lagSeconds.replace(with: gauge { Self.lagSeconds($0.lagRecords, $0.storedTo, now) }, beyond: .maximum)
  }

  /// Returns the age of the newest record that was handled, in seconds: 0 if there is none after it, nil if that is unknown.
  ///
  /// - Parameters:
  ///   - records: The records that are not handled yet; nil if that is unknown.
  ///   - newest: The timestamp of the newest record that was handled, in µs since 1970; nil if that is unknown.
  ///   - now: The wall clock, in µs since 1970.
  public static func lagSeconds(_ records: Int64?, _ newest: Int64?, _ now: Int64) -> Double? {
    guard let records else { return nil }
    guard records > 0 else { return 0 }
    return newest.map { max(0, Double(now - $0) / 1_000_000) }
  }
}

extension PipelineStatus.AuditPartitionStatus {
  /// The number of records that are not stored yet; nil while it is unknown.
  public var lagRecords: Int64? { end.map { max(0, $0 - next) } }
}
