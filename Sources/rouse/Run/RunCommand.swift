import ArgumentParser
import Auditing
import Domain
import Foundation
import Logging
import Pipeline
import Policies
import Synchronization

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run the stages against Kafka until told to stop.",
    discussion: """
      Takes every role unless `roles` says otherwise: intake reads events, devices and signals; planner decides; audit \
      stores what was decided. Processes are added and removed freely; the planner threads of all of them share the \
      partitions of the log.

      Values come from --set, then the environment (ROUSE_…), then --config, then the default; --print-config shows \
      each value and where it came from. The file nests the keys: `topics.events` is `events` under `topics`.

      SIGTERM and SIGINT end it in order within ten seconds: what is decided is committed first. With \
      planner.snapshotFolder, snapshots are written after that, which takes a second or two for a million devices. A \
      second signal ends it at once; nothing is lost by that either.

      EXAMPLE
        rouse topics create --bootstrap localhost:9092
        rouse run --bootstrap localhost:9092 \\
          --set topics.events=flights --set policy=policy.yaml

      SETTINGS
      \(SettingKey.list)
      """)

  @OptionGroup var settings: SettingsOptions
  @Flag(help: "Show every setting and where it came from, and end.")
  var printConfig = false

  func run() async throws {
    let settings = try await settings.resolve()
    let pipeline = try settings.pipeline()
    let roles = try settings.roles()
    let retention = try AuditSettings(settings)
    let workers = try settings.number("planner.workers", 1...1024) ?? ProcessInfo.processInfo.activeProcessorCount
    let logger = try settings.logger()
    if printConfig {
      try Output.print(settings.report())
      return
    }
    let stop = Shutdown.onSignal()
    let counters = PipelineCounters()
    let runner = RoleRunner(stop: stop, counters: counters, logger: logger)
    logger.info("connecting", metadata: ["brokers": "\(settings.text("kafka.bootstrapServers") ?? "")"])
    try seed(settings, pipeline, logger)
    if roles.contains(.planner) {
      for number in 0..<workers {
        runner.start("planner-\(number)") { () throws(PipelineError) in
          try PlannerWorker(settings: pipeline, number: number, stop: stop, counters: counters, logger: logger).run()
        }
      }
    }
    if roles.contains(.intake) {
      runner.start("intake") { () throws(PipelineError) in
        try Intake(settings: pipeline, stop: stop, counters: counters, logger: logger).run()
      }
    }
    if roles.contains(.audit) { startAudit(runner, pipeline, retention, stop, counters, logger) }
    logger.info(
      "running",
      metadata: [
        "roles": "\(roles.map(\.rawValue).sorted())", "planners": "\(workers)", "instance": "\(pipeline.instance)",
      ])
    await report(stop, counters, logger)
    logger.info("ending; a second signal ends at once")
    // Snapshots are written after the last commit, when others may take over already.
    let patience = pipeline.planner.snapshotFolder == nil ? 10 : 60
    guard runner.join(timeout: .seconds(patience)) else {
      throw Failure(
        "some stages did not end within \(patience) s; what they had not committed is decided again at the next start")
    }
    if let error = runner.fatalError {
      if case .kafka(let kafka) = error { throw kafka }
      throw Failure(error.description)
    }
    logger.info("ended")
  }

  /// A new log starts with the policy of the settings; later ones are put into force by `rouse policy apply`.
  private func seed(_ settings: Settings, _ pipeline: PipelineSettings, _ logger: Logger) throws {
    guard let path = settings.text("policy") else {
      logger.info("no policy in the settings: until rouse policy apply has been used once, every event is NO_MATCH")
      return
    }
    let document: PolicyDocument
    do {
      document = try PolicyFile.document(path)
    } catch {
      // A log that has its policy needs no file: a restart, or a new host, must not fail for it.
      guard try PolicyAppender(settings: pipeline).emptyPartitions().isEmpty else { throw error }
      logger.warning(
        "the policy file is not usable, and not needed: the log has begun with a policy",
        metadata: ["error": "\(error)"])
      return
    }
    for warning in document.warnings { logger.warning("\(warning)") }
    let seeded = try PolicyAppender(settings: pipeline).seed(document: document.text)
    if seeded > 0 {
      logger.info(
        "policy put into force",
        metadata: ["version": "\(document.policy.reference.version)", "partitions": "\(seeded)"])
    } else {
      logger.info("the log has begun already: the policy file is not applied; rouse policy apply puts it into force")
    }
  }

  private func startAudit(
    _ runner: RoleRunner, _ pipeline: PipelineSettings, _ audit: AuditSettings, _ stop: StopSignal,
    _ counters: PipelineCounters, _ logger: Logger
  ) {
    runner.start("audit") { () throws(PipelineError) in
      let sink: AuditSink
      do throws(AuditError) {
        sink = try AuditSink(path: audit.path, retention: audit.retention)
      } catch {
        throw .setup(error.description)
      }
      try AuditFeed(settings: pipeline, sink: sink, stop: stop, counters: counters, logger: logger).run()
    }
  }

  /// A line of counts every ten seconds, where anything moved.
  private func report(_ stop: StopSignal, _ counters: PipelineCounters, _ logger: Logger) async {
    var last: [Int] = []
    var next = ContinuousClock.now + .seconds(10)
    while !stop.isAsked {
      try? await Task.sleep(for: .milliseconds(100))
      guard ContinuousClock.now >= next else { continue }
      next = .now + .seconds(10)
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

/// Where the audit store is and how large it may become.
struct AuditSettings: Sendable {
  var path: String
  var retention: Retention

  init(_ settings: Settings) throws {
    path = settings.text("audit.store") ?? "rouse-audit.sqlite"
    retention = Retention(
      ageMax: try settings.number("audit.retentionDays", 1...36_500).map { .hours(Int64($0) * 24) },
      bytesMax: try settings.number("audit.storeMegabytesMax", 1...10_000_000).map { Int64($0) << 20 }, chunksMax: 200)
  }
}

/// SIGTERM and SIGINT: the first asks the stages to end, the second ends the process at once.
enum Shutdown {
  private static let stop = StopSignal()
  private static let count = Atomic<Int>(0)

  /// Installs the handlers. They only touch atomics that exist by then, which a signal handler may.
  /// - Returns: what a signal asks.
  static func onSignal() -> StopSignal {
    _ = count.load(ordering: .relaxed)
    let stop = stop
    for number in [SIGTERM, SIGINT] {
      _ = signal(number) { number in
        if Shutdown.count.add(1, ordering: .relaxed).oldValue > 0 { _exit(128 + number) }
        Shutdown.stop.ask()
      }
    }
    return stop
  }
}
