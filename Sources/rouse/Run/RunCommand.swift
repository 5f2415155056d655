import ArgumentParser
import Auditing
import Console
import Domain
import Foundation
import Gateway
import Installation
import KafkaClient
import Logging
import Observing
import Operating
import Pipeline
import Policies
import Serving
import Storing

/// Runs the stages of the pipeline against Kafka until a signal ends them.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run the stages against Kafka until told to stop.",
    discussion: """
      Takes the roles intake, planner and audit unless `roles` names others: intake reads events, devices and signals; \
      planner decides; audit stores the decisions; gateway takes events, devices and signals over HTTP; console answers questions over HTTP from the audit store. \
      Processes can be added and removed at any time; the planner threads of all processes share \
      the partitions of the log.

      Values come from --set, then from the environment (ROUSE_…), then from --config, then from the default; \
      --print-config shows each value and its origin. The file nests the keys: `topics.events` is `events` under \
      `topics`. `kafka.properties` is a mapping of librdkafka's names in the file, and name=value,name=value elsewhere.

      SIGTERM and SIGINT end the process in order within ten seconds: planners commit first what they have decided. \
      With planner.snapshotFolder, they then write snapshots, which takes a second or two for a million devices. A \
      second signal ends the process at once; nothing is lost by that either.

      http.listen serves metrics and probes to machines of this host; the page about metrics lists them. A process is \
      ready (/readyz) when its threads work and none of its partitions is being restored. One with the role console alone also \
      starts while no broker answers, and is ready when it can read the audit store; /readyz then says what is missing.

      Under a service manager such as systemd, which sets NOTIFY_SOCKET, the process says when it is ready for the first \
      time, and that it ends. While no thread is stuck (/livez), it feeds the watchdog of WATCHDOG_USEC.

      EXAMPLE
        rouse topics create --bootstrap localhost:9092
        rouse run --bootstrap localhost:9092 \\
          --set topics.events=flights --set policy=policy.yaml

      SETTINGS
      \(Setting.list)
      """)

  @OptionGroup var settings: SettingsOptions
  @Flag(help: "Show every setting with its value and origin, and end. With --format json, with its description too.")
  var printConfig = false
  @OptionGroup var output: FormatOption

  /// The time between two log lines of counts.
  private static let reportInterval = Duration.seconds(10)
  /// The time that the stages get for an orderly end, in seconds: without and with local snapshots, which planners
  /// write after their last commit.
  private static let endTimeoutSeconds = (plain: 10, withSnapshots: 60)

  func validate() throws {
    if output.format == .json, !printConfig { throw ValidationError("--format json: goes with --print-config only") }
  }

  func run() async throws {
    let settings = try settings.resolve()
    let pipeline = try settings.pipeline()
    let listen = try settings.httpListen()
    let collector = try settings.spanCollector()
    _ = try settings.gateway(pipeline)
    _ = try settings.console(pipeline)
    _ = try settings.tokens()
    try settings.checkListeners()
    if printConfig {
      switch output.format {
      case .text: try Output.print(settings.report)
      case .json: try Output.print(settings.json)
      }
      return
    }
    let logger = settings.logger
    do {
      let limit = OpenFiles.raiseLimit()
      let files = try OpenFiles(limit: limit, settings)
      try await run(settings, pipeline, files, listen, collector, logger)
    } catch {
      // A log of JSON has no other lines, also at its end.
      guard settings.logFormat == .json else { throw error }
      logger.report(.runFailed, metadata: ["error": "\(ErrorWords(error).line)"])
      throw ExitCode(1)
    }
  }

  /// Runs the stages and serves the pages for machines, until a signal or an error ends them.
  private func run(
    _ settings: Settings, _ pipeline: PipelineSettings, _ files: OpenFiles, _ listen: HTTPAddress?,
    _ collector: SpanCollector?, _ logger: Logger
  ) async throws {
    let stop = Shutdown.onSignal()
    let counters = PipelineCounters(traces: collector == nil ? nil : settings.traces)
    counters.set(storage: settings.storage)
    let runner = RoleRunner(stop: stop, counters: counters, logger: logger)
    let check = try settings.console(pipeline).map { ConsoleCheck($0, logger: logger) }
    let tokens = try TokenAuthority.start(settings, counters.registry, logger)
    defer { tokens?.end() }
    let pages = MachinePages(
      counters: counters, stop: stop, threads: settings.threads, console: check, tokens: tokens)
    let listener = try await MachineServer.start(
      listen, pages, counters, connectionsMax: files.pageConnections)
    if let listener { logger.info("listening", metadata: ["metrics": "http://\(listener.address.text)/metrics"]) }
    let exporter = collector?.start(instance: pipeline.instance, counters, logger)
    // At the end, the spans that wait are sent, in as many requests as fit into two seconds.
    defer { exporter?.stop(timeout: .seconds(2)) }
    // Ended first: the process is over for its manager before the last spans are sent.
    let notifier = ServiceNotifier.start(environment: ProcessInfo.processInfo.environment, pages, stop, logger)
    defer { notifier?.end() }
    do {
      try await work(settings, pipeline, files, tokens, runner, check, stop, counters, logger)
    } catch {
      await listener?.stop()
      throw error
    }
    // Probes and scrapes are answered until the stages have ended.
    await listener?.stop()
  }

  /// Runs the stages until a signal or an error ends them.
  private func work(
    _ settings: Settings, _ pipeline: PipelineSettings, _ files: OpenFiles, _ tokens: TokenAuthority?,
    _ runner: RoleRunner, _ check: ConsoleCheck?,
    _ stop: StopSignal, _ counters: PipelineCounters, _ logger: Logger
  ) async throws {
    for name in pipeline.cluster.unused {
      logger.warning(
        "Rouse sets this property of librdkafka itself; the value in kafka.properties is not used",
        metadata: ["property": "\(name)"])
    }
    logger.info("connecting", metadata: ["brokers": "\(settings.text(.bootstrapServers) ?? "")"])
    var files = files
    if settings.roles == [.console] {
      // The store can be asked without brokers. Settings that no client takes are refused all the same.
      _ = try KafkaAdmin(pipeline.kafka)
    } else {
      // Says within ten seconds that no broker answers, as the other commands do.
      let cluster = try settings.cluster(pipeline.cluster, saysWait: settings.logFormat == .text)
      files = try OpenFiles(
        limit: files.limit, settings,
        cluster: (brokers: cluster.brokers.count, pageConnections: files.pageConnections))
      try seed(settings, pipeline, logger)
    }
    if files.isReduced(settings) {
      logger.warning(
        "the limit on open files leaves fewer connections than the settings allow; raise the hard limit to have them all",
        metadata: [
          "limit": "\(files.limit)", "reserve": "\(files.reserve)", "gateway": "\(files.gatewayConnections)",
          "console": "\(files.consoleConnections)",
        ])
    }
    let gateway = try await GatewayRole.start(settings, pipeline, files, tokens, on: runner, counters, logger)
    let console = try await ConsoleRole.start(
      settings, pipeline, files, tokens, check, on: runner, stop, counters, logger)
    start(settings, pipeline, on: runner, stop, counters, logger)
    logger.info(
      "running",
      metadata: [
        "roles": "\(settings.roles.map(\.rawValue).sorted())", "planners": "\(settings.plannerWorkers)",
        "intakeThreads": "\(settings.intakeThreads)",
        "instance": "\(pipeline.instance)",
      ])
    await report(stop, counters, logger)
    logger.info("ending; a second signal ends at once")
    await gateway?.stop()
    await console?.stop()
    let timeouts = Self.endTimeoutSeconds
    let timeout = pipeline.planner.snapshotFolder == nil ? timeouts.plain : timeouts.withSnapshots
    guard runner.join(timeout: .seconds(timeout)) else {
      throw Failure(
        "some stages did not end within \(timeout) s; the next start decides again what they had not committed")
    }
    if let error = runner.fatalError {
      if case .kafka(let kafka) = error, !error.isReplaced, !kafka.code.refusesPrincipal { throw kafka }
      throw Failure(error.description)
    }
    logger.info("ended")
  }

  /// Starts the threads of the roles.
  private func start(
    _ settings: Settings, _ pipeline: PipelineSettings, on runner: RoleRunner, _ stop: StopSignal,
    _ counters: PipelineCounters, _ logger: Logger
  ) {
    let roles = settings.roles
    if roles.contains(.planner) {
      for number in 0..<settings.plannerWorkers {
        runner.start("planner-\(number)") { () throws(PipelineError) in
          try PlannerWorker(settings: pipeline, number: number, stop: stop, counters: counters, logger: logger).run()
        }
      }
    }
    if roles.contains(.intake) {
      for number in 0..<settings.intakeThreads {
        runner.start("intake-\(number)") { () throws(PipelineError) in
          try Intake(settings: pipeline, number: number, stop: stop, counters: counters, logger: logger).run()
        }
      }
    }
    if roles.contains(.audit) {
      let audit = AuditSettings(settings)
      let place = AuditPlace(path: audit.path)
      // Planners do without an audit; a process that has nothing else to do ends.
      runner.start("audit", isDispensable: roles != [.audit]) { () throws(PipelineError) in
        let sink = try place.open(retention: audit.retention)
        if sink.isReadableByOthers {
          logger.warning(
            "other users can read the audit store, which contains push tokens; chmod 600 keeps them out",
            metadata: ["store": "\(audit.path)"])
        }
        try place.use(sink) { () throws(PipelineError) in
          try AuditFeed(settings: pipeline, sink: sink, stop: stop, counters: counters, logger: logger).run()
        }
      }
    }
  }

  /// Appends the policy of the settings to a log that is empty. `rouse policy apply` puts later policies into force. A process
  /// that neither takes in nor plans leaves it to the others: it may not write to the log.
  /// - Throws: what reading the policy throws, unless the log has a policy already; `KafkaError` when the broker fails.
  private func seed(_ settings: Settings, _ pipeline: PipelineSettings, _ logger: Logger) throws {
    guard !settings.roles.isDisjoint(with: [.intake, .planner]) else { return }
    guard let path = settings.text(.policy) else {
      logger.info("no policy in the settings: until rouse policy apply has been used once, every event is NO_MATCH")
      return
    }
    let document: PolicyDocument
    do {
      document = try PolicyFile.document(path)
    } catch {
      // If the log has a policy, the file is not needed, so a restart or a new host must not fail because it is missing.
      guard try PolicyAppender(settings: pipeline.cluster).emptyPartitions().isEmpty else { throw error }
      logger.warning(
        "the policy file is not usable, and not needed: the log has begun with a policy",
        metadata: ["error": "\(error)"])
      return
    }
    for warning in document.warnings {
      logger.warning("the policy has a weakness", metadata: ["warning": "\(warning)"])
    }
    let seeded = try PolicyAppender(settings: pipeline.cluster).seed(document)
    if seeded > 0 {
      logger.info(
        "policy put into force",
        metadata: ["version": "\(document.policy.reference.version)", "partitions": "\(seeded)"])
    } else {
      logger.info("the log has begun already: the policy file is not applied; rouse policy apply puts it into force")
    }
  }

  /// Logs the counters every ten seconds if any of them has changed, until the stages are to end.
  private func report(_ stop: StopSignal, _ counters: PipelineCounters, _ logger: Logger) async {
    var last: [Int] = []
    var next = ContinuousClock.now + Self.reportInterval
    while !stop.isAsked {
      try? await Task.sleep(for: .milliseconds(100))
      guard ContinuousClock.now >= next else { continue }
      next = .now + Self.reportInterval
      let now = PipelineCounters.Counter.allCases.map { counters[$0] }
      if now != last {
        var metadata: Logger.Metadata = [:]
        for counter in PipelineCounters.Counter.allCases where counters[counter] > 0 {
          metadata["\(counter)"] = "\(counters[counter])"
        }
        logger.info("counts", metadata: metadata)
      }
      last = now
    }
  }
}
