import Domain
import Installation
import KafkaClient
import Observing
import Planning

/// The status of a planner thread as it was last published.
struct PublishedStatus {
  /// The instant of the next publication; nil before the first.
  var next: Duration?
  /// Whether the group has given the thread its partitions.
  var hasJoined = false
  /// The number of partitions that were published in each state, to notice a change at once.
  var restoring = 0
  /// The wall clock at the last commit, in µs since 1970; nil before the first.
  var committedAt: Int64?

  /// The time that the restore of each partition took, in seconds, and the source of the state.
  var restores: [Int32: (seconds: Double, source: PipelineStatus.PartitionStatus.StateOrigin)] = [:]

  /// The longest time between two publications.
  static let interval = Duration.seconds(1)
  /// The time between two publications while the end of an owned partition is not known. The first fetch after a restore tells it.
  static let unknownInterval = Duration.milliseconds(50)
}

/// The metrics and the status of a planner thread. Counts go to the metrics by turn or by commit, the status once a second.
extension PlannerWorker {
  /// Adds the ages of the events that were decided in this turn to the metrics.
  func noteDecided() {
    eventTimes.observeDecided(counters.commits.eventToDecision, at: clock.wallMicroseconds)
  }

  /// Adds a commit and the ages of its events to the metrics.
  ///
  /// - Parameter began: The instant when the commit began.
  func noteCommitted(since began: Duration) {
    let now = clock.wallMicroseconds
    published.committedAt = now
    counters.commits.duration.observe((clock.elapsed - began) / .seconds(1), [CommitMetrics.committed])
    // A commit may come in the middle of a turn.
    eventTimes.observeDecided(counters.commits.eventToDecision, at: now)
    eventTimes.observeCommitted(counters.commits.eventToCommit, at: now)
    endTraces(since: began, isCommitted: true)
  }

  /// Publishes the status of the thread and its partitions, if a second has passed or a restore has begun or ended since the last time.
  func publishStatus(_ clients: PlannerClients) {
    let now = clock.elapsed
    let restoring = partitions.lives.values.reduce(0) { $0 + ($1.processor == nil ? 1 : 0) }
    if let next = published.next, now < next, restoring == published.restoring { return }
    published.restoring = restoring
    var planner = PipelineStatus.PlannerStatus(hasJoined: published.hasJoined, committedAt: published.committedAt)
    for partition in partitions.numbers {
      if let life = partitions.lives[partition] { planner.partitions.append(status(of: partition, life, clients)) }
    }
    let isKnown = planner.partitions.allSatisfy { $0.state != .planning || $0.end != nil }
    published.next = now + (isKnown ? PublishedStatus.interval : PublishedStatus.unknownInterval)
    counters.status.set(planner, of: number, at: clock.wallMicroseconds)
  }

  private func status(
    of number: Int32, _ life: PartitionLife, _ clients: PlannerClients
  ) -> PipelineStatus.PartitionStatus {
    var status = PipelineStatus.PartitionStatus(number: number, state: life.state)
    status.needsUpgrade = life.stop?.isNewer ?? false
    if case .restoring(let restore) = life { status.restoring = restore.underWay(at: clock.elapsed) }
    guard let processor = life.processor else { return status }
    status.next = processor.position.nextOffset
    status.plannedTo = processor.newestTimestamp
    status.devices = processor.deviceCount
    status.stateExtent = processor.stateExtent
    status.restoreSeconds = published.restores[number]?.seconds
    status.restoredFrom = published.restores[number]?.source
    status.snapshot = snapshots?.newest[number]
    status.policy = processor.policy
    (status.figures, status.sweptAt) = (processor.sweep.figures, processor.sweep.completedAt)
    if case .policy(_, let refused) = processor.policyNote { status.isPolicyRefused = refused != nil }
    do throws(KafkaError) {
      status.end = try clients.consumer.cachedWatermarks(of: topic(number))?.high
    } catch { report.ignored(error) }
    return status
  }
}

extension PartitionRestore {
  /// Returns how far the restore is.
  ///
  /// - Parameter now: The instant on the thread's clock.
  fileprivate func underWay(at now: Duration) -> PipelineStatus.RestoreUnderWay {
    let isTopic = if case .topic = source { true } else { false }
    return PipelineStatus.RestoreUnderWay(
      seconds: (now - began) / .seconds(1), source: isTopic ? .topic : .snapshot, reached: isTopic ? reached : 0,
      end: end)
  }
}

extension PartitionLife {
  fileprivate var state: PipelineStatus.PartitionStatus.State {
    switch self {
    case .waiting: .waiting
    case .restoring: .restoring
    case .planning: .planning
    case .stopped: .stopped
    }
  }
}

extension PlannerWorker {
  /// Runs the next slice of a sweep if it is time for one.
  func sweepOn() {
    let began = clock.elapsed
    guard let interval = settings.planner.sweepInterval, sweeps.isDue(at: began) else { return }
    defer { sweeps.rest(from: began, to: clock.elapsed) }
    let due = partitions.processors.filter { $0.sweep.due <= began }
    guard let chosen = sweeps.choose(among: due.map(\.partition)),
      let processor = due.first(where: { $0.partition == chosen })
    else { return }
    let wall = settings.timestamps == .arrival ? clock.wallMicroseconds : nil
    guard let figures = processor.sweepOn(at: wall, now: began, interval: interval) else { return }
    for kind in figures.kinds where kind.wrong > 0 {
      counters.screens.wrongAge.add(buckets: kind.ages, sum: kind.ageSum, [kind.name.text])
    }
  }
}
