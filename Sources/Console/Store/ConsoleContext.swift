import Auditing
import Domain
import Foundation
import Logging
import Serving

/// The things with which a reader answers requests. Belongs to the thread of the reader.
final class ConsoleContext {
  let settings: ConsoleSettings
  let logger: Logger
  /// All readers of the context's own threads, for answers that are made piece by piece.
  let readers: StoreReaders
  /// The readers of the store, for answers of the thread of the cluster that go on with the store.
  let storeReaders: StoreReaders
  /// The follower of the store.
  let tailer: DecisionTailer
  /// The access records.
  let access: AccessRecords
  /// The attempts that were refused.
  let refusals: RefusedAttempts
  /// The device that the request in hand is about, for its access record. Handlers set it from the id that they look up.
  var device: Identifier?
  /// The event that the request in hand is about, for its access record. Handlers set it from the id that they look up.
  var event: Identifier?
  /// The other thing that the request in hand is about, for its access record: a decision, a command, a dead letter, a policy, or a text that
  /// was searched for. Handlers set it.
  var subject: String?
  /// Whether the answer in hand names devices although most answers of its route do not. Handlers set it; the request is then recorded.
  var namesDevices = false
  /// The people who have signed in.
  let sessions: ConsoleSessions
  /// The cluster, as pages show it.
  let watch: ClusterWatch
  /// The policy records of the log, as pages show them.
  let policies: PolicyWatch
  /// The other processes; nil if the console knows none.
  let processes: ProcessWatch?
  /// The reports of simulations.
  let reports: ReportStore
  /// The wall clock.
  let now: @Sendable () -> Timestamp
  private var opened: AuditStore?
  private var file: FileWatch

  /// Opens nothing yet.
  init(
    _ settings: ConsoleSettings, _ readers: StoreReaders, storeReaders: StoreReaders? = nil, _ tailer: DecisionTailer,
    sessions: ConsoleSessions,
    watch: ClusterWatch, policies: PolicyWatch, processes: ProcessWatch?, reports: ReportStore,
    refusals: RefusedAttempts,
    metrics: ConsoleMetrics,
    logger: Logger,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.settings = settings
    self.readers = readers
    self.storeReaders = storeReaders ?? readers
    self.tailer = tailer
    self.sessions = sessions
    self.watch = watch
    file = FileWatch(path: settings.storePath)
    self.policies = policies
    self.processes = processes
    self.reports = reports
    self.refusals = refusals
    access = AccessRecords(settings, metrics)
    self.logger = logger
    self.now = now
  }

  /// Forgets the request before, and notes the things that the path of the next one names.
  func begin(_ request: ConsoleRequest) {
    (device, event, subject, namesDevices) = (nil, nil, nil, false)
    note(request.places)
  }

  /// Notes the things that a request is about, for its access record.
  ///
  /// - Parameter names: The ids by the names `device`, `event`, `decision` and `command`. Other names are ignored.
  func note(_ names: [String: String]) {
    device = names["device"].map { Identifier($0) } ?? device
    event = names["event"].map { Identifier($0) } ?? event
    subject = names["decision"] ?? names["command"] ?? subject
  }

  /// Forgets the open store after a failure, so that the next request opens the file that is there then.
  func closeStore() { opened = nil }

  /// Returns the audit store, open for reading. If the file at its path is another one than before, that one is opened, within a second.
  ///
  /// - Throws: `Problem` if there is no store, or if it cannot be used. The next request tries again.
  func store() throws(Problem) -> AuditStore {
    if let opened, !file.isReplaced() { return opened }
    opened = nil
    file = FileWatch(path: settings.storePath)
    do throws(AuditError) {
      let store = try AuditStore.open(path: settings.storePath, options: AuditOptions(access: .read))
      opened = store
      return store
    } catch {
      throw Problem(.unavailable, "the audit store cannot be used: \(error)", retryAfterSeconds: 5)
    }
  }
}
