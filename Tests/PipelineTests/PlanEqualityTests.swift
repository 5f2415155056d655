import Domain
import Foundation
import KafkaClient
import Planning
import Policies
import Replay
import Testing

@testable import Installation
@testable import Pipeline

/// The outputs in which `rouse plan` and `rouse run` with `timestamps=event` agree, and those in which they differ. The
/// pages and the help say the same.
@Suite(.serialized) struct PlanEqualityTests {
  /// Seconds after noon and minutes of delay. Some follow each other closely, and one comes long after the one before.
  private static let events: [(after: Int64, minutes: Int)] = [
    (60, 10), (61, 40), (65, 41), (90, 90), (200, 100), (4000, 10), (4001, 200),
  ]

  /// The decisions and commands of a run on a broker, in the order of the topics.
  private func run(_ fixture: PipelineFixture) throws -> (decisions: [String], commands: [String]) {
    let done = try fixture.run(
      fixture.registering(4),
      fixture.phase(.logRecordsPlanned, plus: Self.events.count) {
        for (index, event) in Self.events.enumerated() {
          try fixture.delay(event.minutes, id: "e\(index)", after: event.after)
        }
      })
    #expect(done)
    func lines(_ topic: String) throws -> [String] {
      try fixture.read(topic).flatMap { message in
        String(decoding: message.value ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
      }
    }
    return (try lines(fixture.settings.topics.decisions), try lines(fixture.settings.topics.commands))
  }

  /// The decisions and commands of a plan of the same records.
  private func plan(
    _ fixture: PipelineFixture, as log: PlanOptions.Log
  ) throws -> (decisions: [String], commands: [String]) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "plan-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func path(_ name: String) -> String { folder.appending(path: name).path }
    func copy(_ topic: String, to name: String) throws {
      let lines = try fixture.read(topic).map { String(decoding: $0.value ?? [], as: UTF8.self) + "\n" }
      try Data(lines.joined().utf8).write(to: URL(filePath: path(name)))
    }
    try copy(fixture.settings.topics.devices, to: "devices.jsonl")
    try copy(fixture.settings.eventTopics[0], to: "events.jsonl")
    var options = PlanOptions(
      policy: try PolicyDocument(yaml: fixture.policy, file: "policy.yaml").policy, devices: path("devices.jsonl"),
      events: path("events.jsonl"))
    options.decisions = path("decisions.jsonl")
    options.commands = path("commands.jsonl")
    options.log = log
    _ = try PlanRun(options).run()
    func lines(_ name: String) throws -> [String] {
      try String(contentsOfFile: path(name), encoding: .utf8).split(separator: "\n").map(String.init)
    }
    return (try lines("decisions.jsonl"), try lines("commands.jsonl"))
  }

  @Test("on one partition with the events' times, a run writes byte for byte what a plan as a run writes")
  func equal() throws {
    let fixture = try PipelineFixture(partitions: 1, minInterval: "5m", perDay: 60, demand: .standard)
    let run = try run(fixture)
    let planned = try plan(fixture, as: .replayed)
    #expect(run.decisions == planned.decisions)
    #expect(run.commands == planned.commands)
    #expect(run.decisions.contains { $0.contains("MIN_INTERVAL") }, "something waited")
    #expect(run.decisions.contains { $0.contains("EMITTED_AFTER_DEFER") }, "what waited was decided without a tick")
  }

  @Test(
    "a plan of its own looks again when a timer is due, which a run with the events' times does with the next record")
  func timers() throws {
    let fixture = try PipelineFixture(partitions: 1, minInterval: "5m", perDay: 60, demand: .standard)
    _ = try run(fixture)
    /// The seconds after noon of the first decision about what waited.
    func first(_ log: PlanOptions.Log) throws -> Int64? {
      try plan(fixture, as: log).decisions.map { try Decision(json: Array($0.utf8)) }
        .first { $0.reason == .emittedAfterDefer }.map { $0.at.milliseconds / 1000 - PipelineFixture.noon / 1000 }
    }
    #expect(try first(.own) == 360, "five minutes after the first push")
    #expect(try first(.replayed) == 4000, "with the next event")
  }
}
