import Domain
import Foundation
import Installation
import JSON
import KafkaClient
import Replay
import Testing

/// Runs a pipeline on an embedded broker, and takes its input out of the log again.
@Suite("rouse log export", .serialized)
struct LogExportTests {
  private static let devices = (1...8).map { "d\($0)" }

  /// A broker with two partitions of every topic of Rouse, the records of a morning, and the decisions about them.
  private final class Morning {
    let place: Workplace
    let broker: EmbeddedBroker
    private let producer: KafkaProducer

    init() throws {
      place = try Workplace()
      broker = try EmbeddedBroker()
      for name in TopicNames().all { try broker.createTopic(name, partitions: 2) }
      try broker.createTopic("events", partitions: 1)
      producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers])
      try place.put(tinyPolicy, "policy.yaml")
      let run = try RunningRouse(
        [
          "--bootstrap", broker.bootstrapServers, "--set", "policy=policy.yaml", "--set", "membership=dynamic", "--set",
          "timestamps=event", "--set", "audit.store=audit.sqlite",
        ], in: place)
      func reached(_ metric: String, _ count: Int) throws {
        try soon("\(metric) \(count)") {
          let lines = try run.page("/metrics").split(separator: "\n").filter { $0.hasPrefix(metric) }
          let total = lines.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
          return total >= count ? true : nil
        }
      }
      try publish("rouse.devices", LogExportTests.devices.map { ($0, phone($0)) })
      // A later one with an older time does not count.
      let older = phone("d1", "flight/other").replacing("2013-06-30", with: "2013-06-29")
      try publish("rouse.devices", [("d1", older)])
      try reached("rouse_registrations_planned_total", LogExportTests.devices.count + 1)
      try publish("events", [("f", delay("e1", 10, at: "15:00:00")), ("f", delay("e2", 60, at: "15:01:00"))])
      try reached("rouse_audit_stored_total{record=\"decision\"}", 2 * LogExportTests.devices.count)
      try publish("rouse.signals", ["d1", "d2"].map { ($0, signal("app.foregrounded", $0, at: "15:10:00")) })
      try reached("rouse_signals_accepted_total", 2)
      // The first two are published out of order.
      let later = [
        delay("e4", 130, at: "15:20:00"), delay("e3", 90, at: "15:19:00"), delay("e5", 10, at: "15:40:00"),
        delay("e6", 20, at: "15:40:00", "flight/nobody"),
      ]
      try publish("events", later.map { ("f", $0) })
      // e2 is decided twice, and nobody shows what e6 is about.
      try reached("rouse_audit_stored_total{record=\"decision\"}", 6 * LogExportTests.devices.count)
      #expect(try run.end() == 0)
    }

    private func publish(_ topic: String, _ records: [(key: String, value: String)]) throws {
      for (key, value) in records {
        try producer.send(
          topic: topic, partition: nil, key: Array(key.utf8),
          value: Array(value.trimmingCharacters(in: .newlines).utf8))
        // One after the other, so that topics with two partitions keep the order, too.
        #expect(try producer.flush(timeout: .seconds(60)))
      }
      #expect(producer.takeDeliveryFailures().isEmpty)
    }

    func export(_ arguments: String...) throws -> Outcome {
      let files = ["--devices", "devices.jsonl", "--events", "events.jsonl.gz", "--signals", "signals.jsonl"]
      return try place.rouse(
        list: ["log", "export", "--bootstrap", broker.bootstrapServers] + files + arguments)
    }

    /// Plans what was exported as a run does.
    func plan() throws -> [String] {
      let plan = try place.rouse(
        "plan", "--policy", "policy.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl.gz", "--signals",
        "signals.jsonl", "--as-run", "--decisions", "decisions.jsonl")
      #expect(plan.status == 0, "\(plan.err)")
      return try verdicts(place.lines("decisions.jsonl"))
    }

    /// The decisions of the run.
    func decided() throws -> [String] {
      let export = try place.rouse("audit", "export", "--store", "audit.sqlite", "--out", "all.jsonl")
      #expect(export.status == 0, "\(export.err)")
      return try verdicts(place.lines("all.jsonl").filter { $0.hasPrefix("{\"decision\"") })
    }

    private func verdicts(_ lines: [String]) throws -> [String] {
      try lines.map { line in
        let decision = try Decision(json: Array(line.utf8))
        return "\(decision.device) \(decision.at) \(decision.event) \(decision.verdict) \(decision.reason.rawValue)"
      }.sorted()
    }
  }

  @Test("a plan of the exported files decides what the planners of two partitions decided, at the same times")
  func same() throws {
    let morning = try Morning()
    let outcome = try morning.export()
    #expect(outcome.status == 0 && outcome.out.isEmpty, "\(outcome.err)")
    #expect(
      outcome.err == "8 devices, 6 events, 2 signals, 2013-07-01T15:00:00Z to 2013-07-01T15:40:00Z\n", "\(outcome.err)")
    let decided = try morning.decided()
    #expect(decided.count == 6 * Self.devices.count)
    #expect(decided.contains { $0.hasSuffix("APP_FOREGROUND") } && decided.contains { $0.hasSuffix("EMITTED") })
    #expect(decided.contains { $0.hasSuffix("STALE_EVENT") }, "an event came behind a newer one")
    let planned = try morning.plan()
    #expect(planned == decided, "\(planned.difference(from: decided))")
    // The newest registration counts by its own time, and nothing shows a token.
    let devices = try morning.place.lines("devices.jsonl")
    #expect(devices.count == 8 && devices.allSatisfy { $0.contains("flight/UA1") && !$0.contains("\"aa2") })
    let mode = try FileManager.default.attributesOfItem(atPath: morning.place.path("devices.jsonl"))[.posixPermissions]
    #expect(mode as? Int == 0o600)
    let simulated = try morning.place.rouse(
      "simulate", "--policy", "policy.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl.gz", "--signals",
      "signals.jsonl", "--no-baselines")
    #expect(simulated.status == 0 && simulated.out.contains("6 events, 8 devices"), "\(simulated.out)\(simulated.err)")

    let sample = DeviceSample(0.5)
    let chosen = Self.devices.filter { sample.holds(Identifier($0)) }
    #expect(!chosen.isEmpty && chosen.count < Self.devices.count)
    let part = try morning.export("--sample", "0.5", "--format", "json")
    let json = try JSONValue(parsing: part.err)
    #expect(json["devices"] == .number(Double(chosen.count)) && json["events"] == .number(6), "\(part.err)")
    #expect(try morning.plan() == decided.filter { line in chosen.contains { line.hasPrefix("\($0) ") } })

    let hour = try morning.export("--from", "2013-07-01T15:05:00Z", "--to", "2013-07-01T15:30:00Z")
    #expect(
      hour.err == "8 devices, 2 events, 2 signals, 2013-07-01T15:10:00Z to 2013-07-01T15:20:00Z\n", "\(hour.err)")
    let none = try morning.export("--from", "2020-01-01T00:00:00Z")
    #expect(none.err == "8 devices, 0 events, 0 signals\nno event in that time\n", "\(none.err)")
  }

  @Test("wrong use and a missing topic are said, and no file is left")
  func wrong() throws {
    let broker = try EmbeddedBroker()
    let place = try Workplace()
    func export(_ arguments: String...) throws -> Outcome {
      try place.rouse(
        list: ["log", "export", "--bootstrap", broker.bootstrapServers, "--devices", "d", "--events", "e"] + arguments)
    }
    #expect(try export("--signals", "e").err.contains("are the same file"))
    #expect(try export("--signals", "s", "--sample", "2").err.contains("expected more than 0 and at most 1"))
    let missing = try export("--signals", "s")
    #expect(missing.status == 1 && missing.err.contains("`rouse topics create`"), "\(missing.err)")
    for name in ["d", "e", "s"] { #expect(!place.has(name)) }
  }
}
