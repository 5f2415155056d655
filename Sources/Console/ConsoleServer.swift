import Domain
import Foundation
public import Keys
public import Logging
public import Serving
import Synchronization

/// A console with its server and its readers, as one process runs it.
///
///     start ──► listening ──► stop: no new requests, those under way are answered ──► ended
public final class ConsoleServer: Sendable {
  private let server: HTTPServer
  private let readers: [StoreReaders]
  private let tailer: DecisionTailer
  private let keyTurns: RepeatedTurn

  /// The threads that answer questions to the cluster. An answer may take as long as the cluster does, and none is to wait for another.
  private static let clusterThreads = 16

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - access: The keys and tokens; nil if everybody who reaches the console may do everything.
  ///   - metrics: The metrics.
  ///   - logger: Gets failures.
  /// - Returns: The console, which answers. A store that does not exist yet is looked for with each request.
  /// - Throws: `HTTPListenerError` if the address cannot be had.
  public static func start(
    _ settings: ConsoleSettings, access: Authenticator?, metrics: ConsoleMetrics, logger: Logger
  ) async throws(HTTPListenerError) -> ConsoleServer {
    let now: @Sendable () -> Timestamp = { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000)) }
    let sessions = ConsoleSessions(access)
    let watch = ClusterWatch(settings.cluster, settings.state, now: now)
    let policies = PolicyWatch(settings.cluster)
    let processes = settings.others.map { ProcessWatch($0, now: now) }
    let reports = ReportStore(
      path: ReportStore.path(besides: settings.storePath), bytesMax: settings.limits.bodyBytesMax, logger: logger)
    let tailer = DecisionTailer(storePath: settings.storePath, logger: logger)
    let refusals = RefusedAttempts(metrics)
    let makeContext: @Sendable (StoreReaders, StoreReaders?) -> ConsoleContext = { readers, storeReaders in
      ConsoleContext(
        settings, readers, storeReaders: storeReaders, tailer, sessions: sessions, watch: watch, policies: policies,
        processes: processes,
        reports: reports, refusals: refusals, metrics: metrics, logger: logger, now: now)
    }
    let readers = StoreReaders(settings, makeContext: { makeContext($0, nil) }) { _ in }
    let cluster = StoreReaders(settings, threads: clusterThreads, makeContext: { makeContext($0, readers) }) { _ in }
    let changes = StoreReaders(settings, threads: 1, makeContext: { makeContext($0, readers) }) { _ in }
    // Questions do not hold up the records of refused attempts.
    let outside = StoreReaders(settings, threads: 1, makeContext: { makeContext($0, nil) }) {
      $0.access.write(refusals, at: now())
    }
    // Not on a reader: a key that was revoked must not work on while a question is being answered.
    let keyTurns = RepeatedTurn("console-keys") { access?.refresh() }
    let service = ConsoleService(
      settings, access: access, sessions, readers, cluster, changes, outside, refusals, metrics, now: now)
    do throws(HTTPListenerError) {
      return ConsoleServer(
        try await HTTPServer.start(
          settings.listen, service, limits: settings.limits, certificate: settings.certificate),
        [readers, cluster, changes, outside], tailer, keyTurns)
    } catch {
      tailer.end()
      keyTurns.end()
      for threads in [readers, cluster, changes, outside] { threads.end() }
      throw error
    }
  }

  private init(
    _ server: HTTPServer, _ readers: [StoreReaders], _ tailer: DecisionTailer, _ keyTurns: RepeatedTurn
  ) {
    self.keyTurns = keyTurns
    self.tailer = tailer
    self.server = server
    self.readers = readers
  }

  /// The number of clients that follow the decisions.
  var tailCount: Int { tailer.count }

  /// The number of exports under way.
  var exportCount: Int { readers.reduce(0) { $0 + $1.exports.load(ordering: .relaxed) } }

  /// The address that the server has.
  public var address: HTTPAddress { server.address }

  /// Ends the server. Requests under way are answered before.
  public func stop() async {
    tailer.end()
    await server.stop()
    keyTurns.end()
    for threads in readers { threads.end() }
  }
}
