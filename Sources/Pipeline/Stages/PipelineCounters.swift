import Installation
public import KafkaClient
public import Observing
import Synchronization

/// The figures of one process: the metrics of its stages, and the status of its partitions. May be used from any thread.
///
/// Stages count by batch, commit or turn and nothing more often. All counts are kept in the registry alone; a `Counter` names
/// those that logs and tests read.
public final class PipelineCounters: Sendable {
  /// A thing that is counted. Its name is its key in logs.
  public enum Counter: Int, CaseIterable, Sendable {
    case eventsAccepted, registrationsAccepted, signalsAccepted, duplicatesDropped, deadLetters
    case logRecordsPlanned, logRecordsSkipped, recordsSetAside, registrationsPlanned, decisions, commands, stateRecords,
      transactionsCommitted
    case transactionsAborted, ticksAppended, auditedDecisions, auditedCommands, auditRetries, restarts
    case snapshotRecordsRestored, snapshotsDiscarded, intakePauses, deadLettersRefused, unreadableBatches
    case partitionsStopped, skipsTaken, auditUnreadable, auditSetAside
  }

  /// All metrics of the process. Metrics of other parts may be added.
  public let registry: MetricRegistry
  /// The status of the stages.
  public let status: PipelineStatus
  let intake: IntakeMetrics
  let planning: PlanningMetrics
  let commits: CommitMetrics
  let partitions: PartitionMetrics
  let screens: ScreenMetrics
  let audit: AuditMetrics
  let stages: StageMetrics
  let storage: StorageMetrics
  private let places = Mutex(StoragePlaces())
  /// The statistics of the Kafka clients.
  let clients: ClientStatistics
  /// The traces of the events that the process handles; nil if none are wanted.
  public let traces: PipelineTraces?
  /// The metrics of the export of spans.
  public let spans: SpanMetrics

  /// Makes counters at zero.
  ///
  /// - Parameter traces: The traces of the events that the process handles; nil if none are wanted.
  public init(traces: PipelineTraces? = nil) {
    self.traces = traces
    registry = MetricRegistry()
    stages = StageMetrics(registry)
    intake = IntakeMetrics(registry)
    planning = PlanningMetrics(registry)
    commits = CommitMetrics(registry)
    partitions = PartitionMetrics(registry)
    screens = ScreenMetrics(registry)
    audit = AuditMetrics(registry)
    storage = StorageMetrics(registry)
    clients = ClientStatistics(KafkaMetrics(registry))
    spans = SpanMetrics(registry)
    status = PipelineStatus()
    registry.collect { [weak self, status, intake, partitions, screens, audit, stages, clients, storage] in
      if let self { storage.show(places.withLock(\.self)) }
      status.snapshot.show(intake: intake, partitions: partitions, screens: screens, audit: audit, stages: stages)
      clients.show()
    }
  }

  /// Sets the version of the program that metrics show.
  ///
  /// - Parameter version: The version, such as `1.0.0`.
  public func set(version: String) { stages.build.replace(with: [([version], 1)]) }

  /// Sets the threads that metrics show as configured.
  ///
  /// - Parameter threads: The threads that the process is to have.
  public func set(threads: [PipelineStatus.StageThread]) {
    let counts = Dictionary(grouping: threads, by: \.role).mapValues { Double($0.count) }
    stages.threadsConfigured.replace(with: counts.map { ([$0.key.rawValue], $0.value) })
  }

  /// Sets the places whose room metrics show.
  ///
  /// - Parameter places: The local storage of the process.
  public func set(storage places: StoragePlaces) { self.places.withLock { $0 = places } }

  /// Adds to a count that has no labels, or whose labels the name of the count says.
  ///
  /// - Parameters:
  ///   - counter: The count.
  ///   - amount: The number to add; not negative.
  public func add(_ counter: Counter, _ amount: Int = 1) {
    assert(amount >= 0, "counts never fall")
    let (family, labels) = place(of: counter)
    family.add(amount, labels)
  }

  /// Counts a dead letter by the sort of its record and by its reason.
  ///
  /// - Parameters:
  ///   - letter: The dead letter.
  ///   - names: The names of the topics.
  func add(_ letter: DeadLetter, _ names: TopicNames) {
    intake.deadLetters.add(1, [letter.sort(names).rawValue, letter.reason])
  }

  /// Counts a record that intake dropped as a repeat.
  ///
  /// - Parameter sort: The sort of the record.
  func addDuplicate(_ sort: DeadLetter.RecordSort) { intake.duplicatesDropped.add(1, [sort.rawValue]) }

  /// The present value of a count.
  public subscript(counter: Counter) -> Int {
    let (family, labels) = place(of: counter)
    return Int(labels.count == family.description.labels.count ? family.value(labels) : family.total)
  }

  /// Returns the metric that keeps a count, and the label values of its series; none for the sum over all series.
  private func place(of counter: Counter) -> (MetricFamily, [String]) {
    switch counter {
    case .eventsAccepted: (intake.eventsAccepted, [])
    case .registrationsAccepted: (intake.registrationsAccepted, [])
    case .signalsAccepted: (intake.signalsAccepted, [])
    case .duplicatesDropped: (intake.duplicatesDropped, [])
    case .deadLetters: (intake.deadLetters, [])
    case .deadLettersRefused: (intake.deadLettersRefused, [])
    case .intakePauses: (intake.pauses, [])
    case .logRecordsPlanned: (planning.records, [])
    case .logRecordsSkipped: (planning.recordsSkipped, [])
    case .recordsSetAside: (planning.recordsSetAside, [])
    case .registrationsPlanned: (planning.registrations, [])
    case .decisions: (planning.decisionsSent, [])
    case .commands: (planning.commandsSent, [])
    case .stateRecords: (planning.stateRecordsSent, [])
    case .ticksAppended: (planning.ticks, [])
    case .transactionsCommitted: (commits.transactions, [CommitMetrics.committed])
    case .transactionsAborted: (commits.transactions, [CommitMetrics.aborted])
    case .snapshotRecordsRestored: (partitions.restoredRecords, [PartitionMetrics.fromSnapshot])
    case .snapshotsDiscarded: (partitions.snapshotsDiscarded, [])
    case .partitionsStopped: (partitions.stopped, [])
    case .skipsTaken: (partitions.skipsTaken, [])
    case .unreadableBatches: (partitions.unreadableBatches, [])
    case .auditedDecisions: (audit.stored, [AuditMetrics.decision])
    case .auditedCommands: (audit.stored, [AuditMetrics.command])
    case .auditRetries: (audit.retries, [])
    case .auditUnreadable: (audit.unreadable, [])
    case .auditSetAside: (audit.setAside, [])
    case .restarts: (stages.restarts, [])
    }
  }
}

/// The parts of the figures that the gateway sets, whose module does not know this one.
extension PipelineCounters {
  /// The only thread of the gateway that probes look at.
  private static let gateway = PipelineStatus.StageThread(role: .gateway, number: 0)

  /// Notes a turn of the thread of the gateway's producer.
  ///
  /// - Parameter now: The wall clock, in µs since 1970.
  public func gatewayTurned(at now: Int64) { status.turned(Self.gateway, at: now) }

  /// Forgets the thread of the gateway's producer, which has ended.
  public func gatewayEnded() { status.ended(Self.gateway) }

  /// Returns a receiver of the statistics of the gateway's producer.
  public func gatewayStatistics() -> KafkaStatisticsSink { clients.sink(KafkaMetrics.client(.gateway, .producer)) }
}
