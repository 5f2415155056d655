import Backtesting
import Console
import DeviceView
import Domain
import Installation
import JSON
import Keys
import Logging
import Observing
import Operating
import Pipeline
import Serving

/// Runs the role `console` of a process.
enum ConsoleRole {
  /// Starts the console.
  ///
  /// - Parameters:
  ///   - settings: The settings of the process.
  ///   - pipeline: The settings of the pipeline.
  ///   - files: The open files of the process.
  ///   - tokens: The tokens that are taken beside keys; nil for none.
  ///   - check: Looks at what the console needs.
  ///   - runner: Runs the threads of the check and of the console's own view of devices.
  ///   - stop: Ends these threads.
  ///   - counters: Gets the metrics.
  ///   - logger: Gets what happens.
  /// - Returns: The console, to be stopped at the end; nil if the process does not have the role.
  /// - Throws: `Failure` that says what to do if the address cannot be had or the key file or the certificate cannot be used.
  static func start(
    _ settings: Settings, _ pipeline: PipelineSettings, _ files: OpenFiles, _ tokens: TokenAuthority?,
    _ check: ConsoleCheck?,
    on runner: RoleRunner,
    _ stop: StopSignal, _ counters: PipelineCounters, _ logger: Logger
  ) async throws -> ConsoleServer? {
    guard var console = try settings.console(pipeline) else { return nil }
    console.limits.connectionsMax = files.consoleConnections
    let own = settings.ownConsoleView
    console.devices = (own ?? settings.text(.gatewayDevicesView)).map {
      ViewedListeners(listeners: DeviceListeners(path: $0))
    }
    console.gatewayAccessPath = settings.gatewayAccessPath
    console.process = ConsoleProcess(
      roles: Role.allCases.filter(settings.roles.contains), threads: settings.threads, counters.status)
    console.certificate = try settings.certificate(.consoleTLSCertificate, .consoleTLSKey, logger)
    let keys = try keys(settings, logger)
    let access = access(settings, keys, tokens)
    let metrics = ConsoleMetrics(counters.registry)
    let view = try own.map {
      try DevicesView($0, .consoleDevicesView, group: pipeline.cluster.readerGroup, pipeline, logger)
    }
    let server: ConsoleServer
    do throws(HTTPListenerError) {
      server = try await ConsoleServer.start(console, access: access, metrics: metrics, logger: logger)
    } catch {
      throw Failure("\(error); choose another address with \(SettingKey.consoleListen.rawValue)")
    }
    if let check {
      runner.start("console-check") { () throws(PipelineError) in check.run(until: stop, metrics) }
    }
    view?.keep(on: runner, counters, isOnlyShown: true) { !stop.isAsked }
    if let certificate = console.certificate {
      counters.registry.collect { metrics.set(certificate) }
    }
    logger.info(
      "the console listens",
      metadata: [
        "address": "\(console.certificate == nil ? "http" : "https")://\(server.address.text)",
        "keys": keys.map { "\($0.count)" } ?? "none", "issuer": "\(tokens?.issuer ?? "none")",
      ])
    if access == nil {
      logger.warning(
        "the console has neither keys nor tokens, so it listens on this host only, and everybody here may ask")
    }
    return server
  }

  /// Starts a console without keys on the default address, or on a free port of this host if another program has that.
  ///
  /// - Parameters:
  ///   - store: The path of the audit store.
  ///   - devices: The path of a view of the registrations.
  ///   - pipeline: The settings of the pipeline.
  ///   - threads: The threads of the process.
  ///   - counters: Gets the metrics, and has the status of the threads.
  ///   - logger: Gets what happens.
  /// - Returns: The console, to be stopped at the end.
  /// - Throws: `HTTPListenerError` if there is no free port either.
  static func startAnywhere(
    store: String, devices: String, _ pipeline: PipelineSettings, _ threads: [PipelineStatus.StageThread],
    _ counters: PipelineCounters, _ logger: Logger
  ) async throws(HTTPListenerError) -> ConsoleServer {
    let metrics = ConsoleMetrics(counters.registry)
    var console = ConsoleSettings(
      listen: defaultAddress, storePath: store, cluster: pipeline.cluster, state: .planner,
      objectives: { ObjectiveHindsight($0, share: $1, instancesMax: $2, changesMax: $3) })
    console.devices = ViewedListeners(listeners: DeviceListeners(path: devices))
    let roles = Role.allCases.filter { role in role == .console || threads.contains { $0.role == role } }
    console.process = ConsoleProcess(roles: roles, threads: threads, counters.status)
    do throws(HTTPListenerError) {
      return try await ConsoleServer.start(console, access: nil, metrics: metrics, logger: logger)
    } catch {
      guard error.isTaken else { throw error }
      console.listen = HTTPAddress(host: defaultAddress.host, port: 0)
      return try await ConsoleServer.start(console, access: nil, metrics: metrics, logger: logger)
    }
  }

  /// The default of `console.listen`: only this host reaches it.
  static let defaultAddress = HTTPAddress(host: "127.0.0.1", port: 8090)

  private static func access(_ settings: Settings, _ keys: KeyRing?, _ tokens: TokenAuthority?) -> Authenticator? {
    guard keys != nil || tokens != nil else { return nil }
    return Authenticator(keys: keys, tokens: tokens?.verifier, recordsPerSecond: settings.consoleRate)
  }

  private static func keys(_ settings: Settings, _ logger: Logger) throws -> KeyRing? {
    guard let path = settings.text(.consoleKeys) else { return nil }
    do throws(KeyFileError) {
      return try KeyRing(path: path, recordsPerSecond: settings.consoleRate, logger: logger)
    } catch {
      throw Failure(
        "\(SettingKey.consoleKeys.rawValue): \(error); make a key file with rouse keys create --file \(path)")
    }
  }
}

extension ConsoleProcess {
  /// Describes this process.
  ///
  /// - Parameters:
  ///   - roles: The roles of the process.
  ///   - threads: The threads that the process is to have.
  ///   - status: The status of the threads.
  init(roles: [Role], threads: [PipelineStatus.StageThread], _ status: PipelineStatus) {
    self.init { Self.state(roles, threads, status.snapshot) }
  }

  /// Returns the roles and partitions of a process.
  static func state(
    _ roles: [Role], _ threads: [PipelineStatus.StageThread], _ status: PipelineStatus.StatusSnapshot
  ) -> RunningState {
    let running = roles.map { role in
      let threads = threads.filter { $0.role == role }
      guard !threads.isEmpty else { return RunningRole(role) }
      return RunningRole(
        role, threadCount: threads.count, notReady: status.reasonsNotReady(threads),
        oldestTurn: threads.compactMap { status.turns[$0] }.min())
    }
    let partitions = status.planners.values.flatMap(\.partitions).sorted { $0.number < $1.number }
    return RunningState(roles: running, partitions: partitions.map { ProcessStatus.OwnedPartition($0) })
  }
}

extension ProcessStatus.OwnedPartition {
  /// Tells of a partition of this process.
  fileprivate init(_ partition: PipelineStatus.PartitionStatus) {
    self.init(
      number: partition.number, state: partition.state.rawValue, next: partition.next, devices: partition.devices,
      lagRecords: partition.lagRecords,
      restore: partition.restoredFrom.map {
        .init(isUnderWay: false, source: $0 == .topic ? "topic" : "snapshot", seconds: partition.restoreSeconds)
      })
  }
}

extension ObjectiveHindsight: ObjectiveComparison {
  mutating func comparedObjectives() -> [(kind: Identifier, objective: ComparedObjective)] {
    results().map { kind, objective in
      (
        kind,
        ComparedObjective(
          freshWithin: objective.freshWithin, share: objective.share, wrongAtLeast: objective.wrongAtLeast,
          instances: objective.instances, changes: objective.changes, met: objective.met, possible: objective.possible)
      )
    }
  }

  mutating func encoding() -> (inout JSONWriter) -> Void {
    let results = results()
    return { Self.encode(results, to: &$0) }
  }
}
