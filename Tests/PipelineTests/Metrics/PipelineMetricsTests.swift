import Domain
import Foundation
import KafkaClient
import Logging
import Observing
import Policies
import Synchronization
import Testing

@testable import Installation
@testable import Pipeline
@testable import Planning

@Suite("Metrics of the pipeline", .serialized) struct PipelineMetricsTests {
  @Test("a run shows every metric of the table and no other, with what was decided, committed and stored")
  func run() throws {
    let fixture = try PipelineFixture()
    fixture.counters.set(version: "1.2.3")
    let sink = CountingSink()
    let done = try fixture.run(
      sink: sink, fixture.registering(20),
      fixture.phase(.decisions, plus: 20) { try fixture.delay(30, id: "e1", after: 60) },
      // The audit may have stored them before this phase begins.
      PipelineFixture.Phase(publish: {}, until: { fixture.counters[.auditedCommands] >= 20 }),
      fixture.phase(.deadLetters, plus: 1) {
        try fixture.publish(fixture.settings.eventTopics[0], key: nil, value: Array("{".utf8))
      })
    #expect(done)
    let text = Self.text(fixture.counters)
    let described = fixture.counters.registry.descriptions
    let typed = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
    #expect(typed.map(String.init) == described.map(\.name))
    for sample in text.split(separator: "\n") where !sample.hasPrefix("#") {
      let name = sample.prefix { $0 != " " && $0 != "{" }
      #expect(described.contains { name.hasPrefix($0.name) }, "\(sample) is not in the table")
    }
    let expected = [
      #"rouse_build_info{version="1.2.3"} 1"#, "rouse_events_accepted_total 1",
      "rouse_registrations_accepted_total 20", #"rouse_dead_letters_total{record="event",reason="INVALID_JSON"} 1"#,
      #"rouse_decisions_total{kind="FlightStatus",verdict="emit",reason="EMITTED"} 20"#,
      "rouse_decisions_sent_total 20", #"rouse_commands_total{surface="widget"} 20"#, "rouse_commands_sent_total 20",
      #"rouse_tokens_charged_total{ledger="instance",kind="FlightStatus"} 20"#,
      #"rouse_tokens_charged_total{ledger="device",kind=""} 20"#, "rouse_registrations_planned_total 20",
      #"rouse_objective_changes_total{kind="FlightStatus"} 20"#,
      #"rouse_objective_changes_in_time_total{kind="FlightStatus"} 20"#,
      #"rouse_transactions_total{outcome="aborted"} 0"#, #"rouse_audit_stored_total{record="decision"} 20"#,
      #"rouse_audit_stored_total{record="command"} 20"#,
      #"rouse_restore_duration_seconds_count{source="topic"} 2"#,
    ]
    for line in expected { #expect(text.contains("\n\(line)\n"), "\(line) is missing") }
    // A quick machine may commit registrations and event together.
    #expect(fixture.counters.commits.transactions.value([CommitMetrics.committed]) >= 1)
    // The event counts once in each of the two partitions.
    for age in ["decision", "commit"] { #expect(text.contains("\nrouse_event_to_\(age)_seconds_count 2\n")) }
  }

  @Test("a kind whose changes are all late has a series of changes in time, so that its rate can be computed")
  func allLate() throws {
    var planner = Planner(
      partition: 0, partitionCount: 1, policy: try PolicyDocument(yaml: PipelineFixture.policy, file: "p").policy)
    let kind = planner.fleet.knownKindSlot("FlightStatus")
    let counters = PipelineCounters()
    func commit(_ results: [ObjectiveResult]) -> String {
      var (output, tally) = (PlannerOutput(), DecisionTally())
      output.decisions = ContiguousArray(results.map { Self.decision(kind, $0) })
      tally.count(output, by: planner)
      tally.flush(into: counters.planning)
      return Self.text(counters)
    }
    func has(_ text: String, _ changes: Int, inTime: Int) -> Bool {
      text.contains("\nrouse_objective_changes_total{kind=\"FlightStatus\"} \(changes)\n")
        && text.contains("\nrouse_objective_changes_in_time_total{kind=\"FlightStatus\"} \(inTime)\n")
    }
    #expect(has(commit([.missed, .missed]), 2, inTime: 0))
    #expect(has(commit([.missed, .met, .met]), 5, inTime: 2))
    #expect(has(commit([.met, .missed]), 7, inTime: 3))
  }

  private static func decision(_ kind: KindSlot, _ result: ObjectiveResult) -> PlannedDecision {
    var decision = PlannedDecision(
      about: EventSlot(0), on: InstanceSlot(0), .suppress, .expired, relevance: 1, objective: result)
    decision.kind = kind
    return decision
  }

  @Test("while it runs, each owned partition shows its state, lag, devices and policy, and afterwards none does")
  func status() throws {
    let fixture = try PipelineFixture()
    fixture.settings.statistics = .milliseconds(100)
    fixture.settings.planner.sweepInterval = .milliseconds(50)
    let counters = fixture.counters
    var planning = PipelineFixture.Phase(publish: {}, until: { false })
    planning.until = {
      let text = Self.text(counters)
      return [0, 1].allSatisfy { number in
        text.contains(#"rouse_partition_state{partition="\#(number)",state="planning"} 1"#)
          && text.contains(#"rouse_lag_records{partition="\#(number)"} 0"#)
          && text.contains(#"rouse_lag_seconds{partition="\#(number)"} 0"#)
          && text.contains(#"rouse_policy_info{partition="\#(number)",version="test.1",hash=""#)
      } && text.contains(#"rouse_threads{role="planner"} 1"#) && text.contains(#"rouse_threads{role="intake"} 1"#)
        && counters.partitions.devices.total == 5
        && text.contains(#"rouse_instances{kind="FlightStatus"} 5"#)
        && text.contains(#"rouse_instances_wrong{kind="FlightStatus"} 0"#)
        && text.contains(#"rouse_tokens_left{kind="FlightStatus"} 15"#)
        && text.contains(#"rouse_objective_share_ratio{kind="FlightStatus"} 0.95"#)
        && text.contains(#"rouse_objective_fresh_within_seconds{kind="FlightStatus"} 600"#)
        && text.contains(#"rouse_objective_instances_late{kind="FlightStatus"} 0"#)
        && text.contains(#"rouse_sweep_stride{partition="1"} 1"#)
        && text.contains(#"rouse_intake_lag_records{topic="\#(fixture.settings.topics.devices)",partition="0"} 0"#)
        && ["intake-consumer", "intake-producer", "planner-consumer", "planner-producer"].allSatisfy {
          text.contains(#"rouse_kafka_brokers_connected{client="\#($0)"} "#)
        }
    }
    #expect(try fixture.run(fixture.registering(5), planning))
    let text = Self.text(counters)
    #expect(!text.contains("rouse_partition_state{"))
    #expect(!text.contains("rouse_threads{"))
    #expect(!text.contains("rouse_instances{"))
    #expect(!text.contains("rouse_intake_lag_records{"))
    #expect(!text.contains("rouse_kafka_brokers_connected{"), "the clients are gone")
  }

  @Test("each thread that runs shows the age of its turn, beside the number of threads that there should be")
  func threads() {
    let counters = PipelineCounters()
    let threads = [0, 1].map { PipelineStatus.StageThread(role: .planner, number: $0) }
    counters.set(threads: threads)
    let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
    counters.status.turned(threads[1], at: now - 90_000_000)
    let text = Self.text(counters)
    #expect(text.contains(#"rouse_threads_configured{role="planner"} 2"#))
    #expect(text.contains(#"rouse_threads{role="planner"} 1"#))
    #expect((90..<150).contains(counters.stages.turnAge.value(["planner", "1"])))
    #expect(!text.contains(#"rouse_turn_age_seconds{role="planner",thread="0"}"#))
  }

  @Test("log records that were removed before they were planned are counted")
  func lost() {
    let counters = PipelineCounters()
    let report = PlannerReport(
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, counters: counters, clock: SteppedClock())
    report.missing(from: 4, to: KafkaMessage(topic: "rouse.log", partition: 0, offset: 9, value: []))
    #expect(counters.planning.recordsLost.total == 5)
  }

  @Test("each reason of a dead letter is shown from the start, so that the first letter is an increase")
  func reasons() {
    let text = Self.text(PipelineCounters())
    for reason in DeadLetter.publicReasons {
      for record in ["event", "registration", "signal"] {
        #expect(text.contains("rouse_dead_letters_total{record=\"\(record)\",reason=\"\(reason)\"} 0"))
      }
    }
    for reason in DeadLetter.logReasons {
      #expect(text.contains("rouse_dead_letters_total{record=\"log\",reason=\"\(reason)\"} 0"))
    }
    for record in ["event", "signal"] {
      #expect(text.contains("rouse_duplicates_dropped_total{record=\"\(record)\"} 0"))
    }
    #expect(DeadLetter.reasons.count == Set(DeadLetter.reasons).count)
  }

  @Test("every count of the log is a metric", arguments: PipelineCounters.Counter.allCases)
  func counts(_ counter: PipelineCounters.Counter) {
    let counters = PipelineCounters()
    let before = Self.text(counters)
    switch counter {
    case .deadLetters:
      let message = KafkaMessage(topic: "rouse.signals", partition: 0, offset: 9, value: [])
      counters.add(DeadLetter(message, reason: "WRONG_TYPE", text: "?"), TopicNames())
    case .duplicatesDropped: counters.addDuplicate(.signal)
    default: counters.add(counter)
    }
    #expect(counters[counter] == 1)
    let added = Set(Self.text(counters).split(separator: "\n")).subtracting(before.split(separator: "\n"))
    #expect(added.count == 1, "\(added)")
    #expect(added.first?.hasSuffix(" 1") == true)
    let others = PipelineCounters.Counter.allCases.filter { $0 != counter }
    #expect(others.allSatisfy { counters[$0] == 0 }, "no two counts are the same series")
  }

  @Test("names and texts follow the conventions", arguments: PipelineCounters().registry.descriptions)
  func conventions(_ description: MetricDescription) {
    #expect(description.name.wholeMatch(of: /rouse_[a-z]+(_[a-z]+)*/) != nil)
    #expect(!description.help.hasSuffix(".") && description.help.first?.isUppercase == true)
    #expect(description.advice.hasSuffix("."))
    #expect(!description.name.hasSuffix("_count") && !description.name.hasSuffix("_sum"))
    for label in description.labels {
      #expect(label.name.wholeMatch(of: /[a-z]+/) != nil && !label.meaning.isEmpty && label.valuesMax > 0)
    }
    if case .histogram(let bounds) = description.kind {
      #expect(bounds == bounds.sorted() && Set(bounds).count == bounds.count)
    }
  }

  @Test(
    "64 partitions and 50 kinds with every reason fit into 1 MB, in both formats", arguments: ExpositionFormat.allCases)
  func size(_ format: ExpositionFormat) {
    let counters = PipelineCounters.sample(partitions: 64, kinds: 50)
    let bytes = Exposition.bytes(of: counters.registry, as: format)
    #expect(bytes.count < 1_000_000)
    #expect(counters.planning.decisions.total == Double(50 * Reason.allCases.count) * 1_000_000)
    #expect(String(decoding: bytes, as: UTF8.self).contains(#"rouse_lag_records{partition="63"} 1099511627776"#))
    #expect(!String(decoding: bytes, as: UTF8.self).contains(#""other""#), "nothing is left out at this size")
  }

  private static func text(_ counters: PipelineCounters) -> String {
    String(decoding: Exposition.bytes(of: counters.registry, as: .prometheus), as: UTF8.self)
  }
}

/// A store that takes everything and keeps nothing.
private final class CountingSink: DecisionSink, Sendable {
  func positions() throws -> [AuditPosition] { [] }
  func store(_ records: [AuditRecord], positions: [AuditPosition]) throws {}
  func note(_ hole: AuditHole, positions: [AuditPosition]) throws {}
  func idle() throws {}
}
