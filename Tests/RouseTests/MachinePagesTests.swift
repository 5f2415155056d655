import Domain
import Foundation
import JSON
import KafkaClient
import Logging
import Serving
import Testing

@testable import Installation
@testable import Operating
@testable import Pipeline
@testable import rouse

@Suite("Pages for machines") struct MachinePagesTests {
  private let counters = PipelineCounters()
  private let stop = StopSignal()
  private let thread = PipelineStatus.StageThread(role: .planner, number: 0)

  private func answer(_ pages: MachinePages, _ path: String, accept: String? = nil) throws -> HTTPPage.Answer {
    try #require(pages.pages.first { $0.path == path }).answer(accept)
  }

  private func text(_ answer: HTTPPage.Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

  @Test("probes say why not, as text or as JSON, and startup is remembered")
  func probes() throws {
    let pages = MachinePages(counters: counters, stop: stop, threads: [thread])
    let reason = "planner thread 0 has not started, or is about to start again after an error"
    for path in ["/readyz", "/startupz"] {
      #expect(try answer(pages, path).status == 503)
      #expect(try text(answer(pages, path)) == reason + "\n")
      let json = try JSONValue(parsing: text(answer(pages, path, accept: "application/json")))
      #expect(json == .object([("ok", .bool(false)), ("reasons", .array([.string(reason)]))]))
    }
    #expect(try answer(pages, "/livez").status == 200)
    let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
    counters.status.set(PipelineStatus.PlannerStatus(hasJoined: true), of: 0, at: now)
    #expect(try text(answer(pages, "/readyz")) == "ok\n")
    stop.ask()
    #expect(try text(answer(pages, "/readyz")) == "the process is ending\n")
    #expect(try answer(pages, "/startupz").status == 200)
    counters.status.set(PipelineStatus.PlannerStatus(hasJoined: true), of: 0, at: now - 400_000_000)
    #expect(try answer(pages, "/livez").status == 503)
  }

  @Test("the status lists threads and partitions with their lag and policy")
  func status() throws {
    let pages = MachinePages(counters: counters, stop: stop, threads: [thread])
    var partition = PipelineStatus.PartitionStatus(number: 7, state: .planning)
    (partition.next, partition.end, partition.plannedTo, partition.devices) = (10, 12, 1_000_000, 3)
    partition.policy = PolicyReference(version: "v1", hash: "h")
    let planner = PipelineStatus.PlannerStatus(hasJoined: true, committedAt: 1_000_000, partitions: [partition])
    counters.status.set(planner, of: 0, at: 1_000_000)
    let json = try JSONValue(parsing: text(answer(pages, "/status")))
    let shown = json["threads"]?[0]?["partitions"]?[0]
    #expect(json["roles"] == .array([.string("planner")]))
    #expect(json["threads"]?[0]?["lastCommit"] == .string("1970-01-01T00:00:01Z"))
    #expect(shown?["partition"] == .number(7))
    #expect(shown?["lagRecords"] == .number(2))
    #expect(shown?["policy"]?["version"] == .string("v1"))
    #expect(shown?["state"] == .string("planning"))
  }

  /// The status of a process that has everything: a restore under way and one that is over, a snapshot, sources and an audit.
  private func fill(at now: Int64) {
    var planned = PipelineStatus.PartitionStatus(number: 7, state: .planning)
    (planned.next, planned.end, planned.plannedTo) = (10, 12, now - 5_000_000)
    planned.policy = PolicyReference(version: "v1", hash: "h")
    (planned.restoreSeconds, planned.restoredFrom) = (1.5, .snapshot)
    planned.snapshot = PipelineStatus.NewestSnapshot(begunAt: now - 60_000_000, seconds: nil)
    var restoring = PipelineStatus.PartitionStatus(number: 8, state: .restoring)
    restoring.restoring = PipelineStatus.RestoreUnderWay(seconds: 3, source: .topic, reached: 40, end: 100)
    counters.status.set(
      PipelineStatus.PlannerStatus(hasJoined: true, committedAt: now, partitions: [planned, restoring]), of: 0, at: now)
    let intake = PipelineStatus.StageThread(role: .intake, number: 0)
    counters.status.turned(intake, at: now)
    counters.status.set(
      lag: [
        PipelineStatus.IntakePartitionStatus(topic: "events", number: 1, next: 5, end: 9, readTo: now - 30_000_000)
      ], of: 0)
    counters.status.set([
      PipelineStatus.AuditPartitionStatus(topic: "decisions", number: 2, next: 1, end: 4, storedTo: now - 20_000_000)
    ])
  }

  @Test("the status has the lag of intake and audit in seconds, restores under way, and the age of snapshots")
  func lags() throws {
    let intake = PipelineStatus.StageThread(role: .intake, number: 0)
    let pages = MachinePages(counters: counters, stop: stop, threads: [intake, thread])
    fill(at: Int64(Date().timeIntervalSince1970 * 1_000_000))
    let json = try JSONValue(parsing: text(answer(pages, "/status")))
    func seconds(_ value: JSONValue?) -> Double { if case .number(let number)? = value { number } else { -1 } }
    let source = json["threads"]?[0]?["sources"]?[0]
    #expect(source?["topic"] == .string("events") && source?["lagRecords"] == .number(4))
    #expect((30..<90).contains(seconds(source?["lagSeconds"])))
    #expect((20..<80).contains(seconds(json["audit"]?[0]?["lagSeconds"])))
    let partitions = json["threads"]?[1]?["partitions"]
    #expect((5..<65).contains(seconds(partitions?[0]?["lagSeconds"])))
    #expect((60..<120).contains(seconds(partitions?[0]?["snapshot"]?["ageSeconds"])))
    #expect(
      partitions?[0]?["restore"]
        == .object([("isUnderWay", .bool(false)), ("from", .string("snapshot")), ("seconds", .number(1.5))]))
    #expect(
      partitions?[1]?["restore"]
        == .object([
          ("isUnderWay", .bool(true)), ("from", .string("topic")), ("seconds", .number(3)), ("offset", .number(40)),
          ("end", .number(100)),
        ]))
    #expect(partitions?[1]?["snapshot"] == nil)
  }

  @Test("the page about the status lists each of its members, and no others")
  func documented() throws {
    let intake = PipelineStatus.StageThread(role: .intake, number: 0)
    let pages = MachinePages(counters: counters, stop: stop, threads: [intake, thread])
    fill(at: 1_000_000)
    let page = try DocumentationPage(path: "\(DocumentationPage.catalog)/Observability.md")
    let section = page.lines.drop { $0 != "## The page /status" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    let documented = Set(
      section.compactMap { line in line.firstMatch(of: #/^\| `([a-zA-Z\[\].]+)` \| /#).map { String($0.1) } })
    let shown = try Self.members(JSONValue(parsing: text(answer(pages, "/status"))), "")
    #expect(shown.subtracting(documented) == [])
    // A process that lacks nothing, and takes no tokens, does not show these.
    let elsewhere = documented.subtracting(shown).filter {
      !$0.hasPrefix("oidc.") && !["missing[]", "threads[].gaveUp"].contains($0)
    }
    #expect(elsewhere == [])
  }

  /// Returns the paths of all members that are no objects.
  private static func members(_ value: JSONValue, _ path: String) -> Set<String> {
    switch value {
    case .object(let members):
      Set(members.flatMap { Self.members($0.1, path.isEmpty ? $0.0 : "\(path).\($0.0)") })
    case .array(let elements):
      elements.isEmpty ? ["\(path)[]"] : Set(elements.flatMap { Self.members($0, "\(path)[]") })
    default: [path]
    }
  }

  @Test("the page of metrics has the type that was asked for")
  func metrics() throws {
    let pages = MachinePages(counters: counters, stop: stop, threads: [])
    #expect(try answer(pages, "/metrics").contentType.hasPrefix("text/plain; version=0.0.4"))
    let open = try answer(pages, "/metrics", accept: "application/openmetrics-text;version=1.0.0")
    #expect(open.contentType.hasPrefix("application/openmetrics-text"))
    #expect(text(open).contains(#"rouse_build_info{version="0.1.0"} 1"#))
    #expect(text(open).hasSuffix("# EOF\n"))
  }

  @Test("a run becomes ready, shows its metrics, and ends in order when it is told to")
  func run() throws {
    let broker = try EmbeddedBroker()
    for name in TopicNames().all + ["events"] { try broker.createTopic(name, partitions: 2) }
    let run = try RunningRouse(
      ["--bootstrap", broker.bootstrapServers, "--set", "planner.workers=3", "--set", "membership=dynamic"],
      in: Workplace())
    try soon("ready") { try? run.page("/readyz") }
    let metrics = try run.page("/metrics")
    #expect(metrics.contains("\nrouse_restore_duration_seconds_count{source=\"topic\"} 2\n"))
    #expect(metrics.contains("\nrouse_threads{role=\"planner\"} 3\n"))
    #expect(metrics.contains("\nprocess_open_fds "))
    #expect(try run.page("/version").hasPrefix("rouse 0.1.0, librdkafka "))
    #expect(try run.end() == 0)
  }

  @Test("a damaged audit store stops the audit alone, and the process says so")
  func damagedStore() throws {
    let broker = try EmbeddedBroker()
    for name in TopicNames().all + ["events"] { try broker.createTopic(name, partitions: 2) }
    let place = try Workplace()
    try place.put(String(repeating: "no database ", count: 1000), "audit.sqlite")
    let run = try RunningRouse(
      ["--bootstrap", broker.bootstrapServers, "--set", "membership=dynamic", "--set", "audit.store=audit.sqlite"],
      in: place)
    let words = try soon("ready") { try? run.page("/readyz") }
    try #require(words.hasPrefix("ok\nmissing: the audit has given up, so no decisions are stored: audit store "))
    #expect(words.contains("is damaged or not a database"))
    #expect(try run.page("/metrics").contains("\nrouse_audit_gave_up 1\n"))
    let status = try #require(ProcessStatus(json: run.page("/status")))
    #expect(status.threads.compactMap(\.gaveUp).count == 1)
    #expect(try run.end() == 0)
  }

  @Test("a process whose only role is the audit ends when its store is damaged")
  func damagedStoreAlone() throws {
    let broker = try EmbeddedBroker()
    for name in TopicNames().all { try broker.createTopic(name, partitions: 1) }
    let place = try Workplace()
    try place.put(String(repeating: "no database ", count: 1000), "audit.sqlite")
    let outcome = try place.rouse(
      "run", "--bootstrap", broker.bootstrapServers, "--set", "roles=audit", "--set", "audit.store=audit.sqlite",
      "--set", "http.listen=off")
    #expect(outcome.status == 1)
    #expect(outcome.err.contains("is damaged or not a database"), "\(outcome.err)")
  }

  @Test("a port that is taken is refused with advice, and so is what is no address")
  func taken() async throws {
    let listener = try await HTTPListener.start(
      HTTPAddress(host: "127.0.0.1", port: 0), pages: [])
    let outcome = try Workplace().rouse("run", "--set", "http.listen=\(listener.address.text)")
    await listener.stop()
    #expect(outcome.status == 1)
    #expect(outcome.err.contains("cannot listen on \(listener.address.text): another program listens there; give each"))
    let wrong = try Workplace().rouse("run", "--set", "http.listen=9464")
    #expect(wrong.status == 2)
    #expect(wrong.err.contains("http.listen: expected host:port such as 127.0.0.1:9464, or off, found '9464'"))
  }
}
