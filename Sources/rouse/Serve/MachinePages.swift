import ArgumentParser
import Console
import Domain
import Installation
import JSON
import KafkaClient
import Keys
import Observing
import Pipeline
import Serving
import Synchronization

/// The pages for machines: metrics, probes, version and status.
///
/// Probes answer 200 or 503, with the reasons as plain text, or as JSON for those that accept it. `/livez` fails only for what a restart of
/// the process mends. `/startupz` fails until the process has worked once. `/readyz` fails until the process is ready, and
/// from the moment when it is asked to end (see `reasonsNotReady`). A process that is too old for a record is not ready; it has started,
/// because no restart helps. A process that works without something that it should have is ready, and
/// `/readyz` says what is missing.
final class MachinePages: Sendable {
  private let counters: PipelineCounters
  private let stop: StopSignal
  private let threads: [PipelineStatus.StageThread]
  private let console: ConsoleCheck?
  private let tokens: TokenAuthority?
  private let hasStarted = Atomic<Bool>(false)

  /// Makes the pages of a process.
  ///
  /// - Parameters:
  ///   - counters: The metrics and the status of the process.
  ///   - stop: Says whether the process was asked to end.
  ///   - threads: The threads that the process is to have.
  ///   - console: Knows what a console is missing; nil if the process has no console, or one that is not asked for it.
  ///   - tokens: Knows the state of the issuer's keys; nil if the process takes no tokens.
  init(
    counters: PipelineCounters, stop: StopSignal, threads: [PipelineStatus.StageThread], console: ConsoleCheck? = nil,
    tokens: TokenAuthority? = nil
  ) {
    self.console = console
    self.tokens = tokens
    self.counters = counters
    self.stop = stop
    self.threads = threads
    counters.set(version: Rouse.configuration.version)
    counters.set(threads: threads)
  }

  /// The pages, by their paths.
  var pages: [HTTPPage] {
    [
      HTTPPage("/metrics") { [counters] accept in
        let format = ExpositionFormat(accept: accept)
        return HTTPPage.Answer(
          contentType: format.contentType, body: Exposition.bytes(of: counters.registry, as: format))
      },
      probe("/livez") { pages in pages.reasonsStuck },
      probe("/readyz", missing: { pages in pages.missing }) { pages in pages.reasonsNotReady },
      probe("/startupz") { pages in pages.reasonsNotStarted },
      HTTPPage("/version") { accept in
        let version = Rouse.configuration.version
        guard Self.wantsJSON(accept) else { return Self.text("rouse \(version), librdkafka \(KafkaLibrary.version)\n") }
        return Self.json { writer in
          writer.member("version", version)
          writer.member("librdkafka", KafkaLibrary.version)
        }
      },
      HTTPPage("/status") { [self] _ in Self.json { write(to: &$0) } },
    ]
  }

  private static var now: Int64 { Machine.now.microseconds }

  /// The answers of all probes at one moment.
  var processState: ServiceNotices.ProcessState {
    ServiceNotices.ProcessState(
      reasonsNotStarted: reasonsNotStarted, reasonsNotReady: reasonsNotReady, reasonsStuck: reasonsStuck,
      missing: missing, isEnding: stop.isAsked)
  }

  private var reasonsStuck: [String] { counters.status.snapshot.reasonsStuck(at: Self.now) }

  private var reasonsNotStarted: [String] { hasStarted.load(ordering: .relaxed) ? [] : reasonsToWait }

  private var reasonsNotReady: [String] {
    reasonsToWait + (stop.isAsked ? [] : counters.status.snapshot.reasonsOutdated)
  }

  /// The reasons for which it helps to wait.
  private var reasonsToWait: [String] {
    if stop.isAsked { return ["the process is ending"] }
    var reasons = counters.status.snapshot.reasonsNotReady(threads)
    // The audit of the same process makes the store.
    if !threads.contains(where: { $0.role == .audit }), let store = console?.findings.store {
      reasons.append("the console cannot read the audit store: \(store)")
    }
    if reasons.isEmpty { hasStarted.store(true, ordering: .relaxed) }
    return reasons
  }

  /// The things that the process does without.
  private var missing: [String] {
    let brokers = console?.findings.brokers.map {
      "no broker answers, so the console shows no policies, dead letters and topics: \($0)"
    }
    let audit = counters.status.snapshot.auditGaveUp.map { "the audit has given up, so no decisions are stored: \($0)" }
    let keys = tokens?.fault.map { "no token is accepted, because the issuer's keys cannot be used: \($0)" }
    return [brokers, audit, keys].compactMap(\.self)
  }

  private func probe(
    _ path: String, missing: @escaping @Sendable (MachinePages) -> [String] = { _ in [] },
    _ reasons: @escaping @Sendable (MachinePages) -> [String]
  ) -> HTTPPage {
    HTTPPage(path) { [self] accept in
      let (reasons, missing) = (reasons(self), missing(self))
      let status = reasons.isEmpty ? 200 : 503
      guard Self.wantsJSON(accept) else {
        let lines = (reasons.isEmpty ? ["ok"] : reasons) + missing.map { "missing: \($0)" }
        return Self.text(lines.map { "\($0)\n" }.joined(), status: status)
      }
      return Self.json(status: status) { writer in
        writer.member("ok", reasons.isEmpty)
        writer.list("reasons", reasons)
        if !missing.isEmpty { writer.list("missing", missing) }
      }
    }
  }

  private func write(to json: inout JSONWriter) {
    let (status, now) = (counters.status.snapshot, Self.now)
    json.member("version", Rouse.configuration.version)
    json.member("time", "\(Timestamp(microseconds: now))")
    let roles = Role.allCases.filter { role in
      threads.contains { $0.role == role } || role == .console && console != nil
    }
    json.list("roles", roles.map(\.rawValue))
    json.list("notReady", reasonsNotReady)
    if !missing.isEmpty { json.list("missing", missing) }
    json.objects("threads", threads) { thread, json in
      json.member("role", thread.role.rawValue)
      json.member("number", thread.number)
      if thread.role == .audit, let reason = status.auditGaveUp { json.member("gaveUp", reason) }
      json.member("secondsSinceTurn", status.turns[thread].map { Double(now - $0) / 1_000_000 })
      if thread.role == .intake, let sources = status.intake[thread.number] {
        json.objects("sources", sources.sorted { ($0.topic, $0.number) < ($1.topic, $1.number) }) { source, json in
          json.member("topic", source.topic)
          json.member("partition", source.number)
          json.member("next", source.next)
          Self.writeLag(source.lagRecords, source.readTo, now, to: &json)
        }
      }
      guard thread.role == .planner, let planner = status.planners[thread.number] else { return }
      json.member("hasJoined", planner.hasJoined)
      json.member("lastCommit", planner.committedAt.map { "\(Timestamp(microseconds: $0))" })
      json.objects("partitions", planner.partitions) { Self.write($0, at: now, to: &$1) }
    }
    if let tokens { Self.write(tokens, to: &json) }
    json.objects("audit", status.audit) { partition, json in
      json.member("topic", partition.topic)
      json.member("partition", partition.number)
      json.member("next", partition.next)
      Self.writeLag(partition.lagRecords, partition.storedTo, now, to: &json)
    }
  }

  private static func write(_ tokens: TokenAuthority, to json: inout JSONWriter) {
    let status = tokens.verifier.keysStatus
    json.object("oidc") { json in
      json.member("issuer", tokens.issuer)
      json.member("keys", status.keysCount)
      json.member("keysReadAt", status.readAt.map { "\($0)" })
      json.member("fault", status.fault)
    }
  }

  private static func write(_ partition: PipelineStatus.PartitionStatus, at now: Int64, to json: inout JSONWriter) {
    json.member("partition", partition.number)
    json.member("state", partition.state.rawValue)
    if let next = partition.next { json.member("next", next) }
    writeLag(partition.lagRecords, partition.plannedTo, now, to: &json)
    json.member("devices", partition.devices)
    if let policy = partition.policy {
      json.object("policy") { json in
        json.member("version", policy.version.text)
        json.member("hash", policy.hash.text)
        json.member("isRefused", partition.isPolicyRefused)
      }
    }
    writeRestore(of: partition, to: &json)
    guard let snapshot = partition.snapshot else { return }
    json.object("snapshot") { json in
      json.member("begun", "\(Timestamp(microseconds: snapshot.begunAt))")
      json.member("ageSeconds", max(0, Double(now - snapshot.begunAt) / 1_000_000))
    }
  }

  /// Writes the restore that is under way, or the one with which the process got the partition.
  private static func writeRestore(of partition: PipelineStatus.PartitionStatus, to json: inout JSONWriter) {
    if let restore = partition.restoring {
      json.object("restore") { json in
        json.member("isUnderWay", true)
        json.member("from", restore.source.name)
        json.member("seconds", rounded: restore.seconds)
        json.member("offset", restore.reached)
        json.member("end", restore.end)
      }
    } else if let seconds = partition.restoreSeconds {
      json.object("restore") { json in
        json.member("isUnderWay", false)
        json.member("from", partition.restoredFrom?.name)
        json.member("seconds", rounded: seconds)
      }
    }
  }

  /// Writes a lag in records and in seconds; neither while it is unknown.
  private static func writeLag(_ records: Int64?, _ newest: Int64?, _ now: Int64, to json: inout JSONWriter) {
    if let records { json.member("lagRecords", records) }
    json.member("lagSeconds", PipelineStatus.StatusSnapshot.lagSeconds(records, newest, now))
  }

  private static func wantsJSON(_ accept: String?) -> Bool {
    accept?.lowercased().contains("application/json") ?? false
  }

  private static func text(_ text: String, status: Int = 200) -> HTTPPage.Answer {
    HTTPPage.Answer(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
  }

  private static func json(status: Int = 200, _ members: (inout JSONWriter) -> Void) -> HTTPPage.Answer {
    var writer = JSONWriter()
    writer.object(members)
    return HTTPPage.Answer(status: status, contentType: "application/json", body: writer.bytes + [UInt8(ascii: "\n")])
  }
}

extension JSONWriter {
  /// Writes a member that is a number of at most six decimals, unless it is nil.
  fileprivate mutating func member(_ key: StaticString, _ value: Double?) {
    if let value { member(key, rounded: value) }
  }
}

extension PipelineStatus.PartitionStatus.StateOrigin {
  fileprivate var name: String { self == .topic ? "topic" : "snapshot" }
}
