import Domain
import Foundation
import LineFiles
import Planning
import Policies
import Testing

@testable import Replay

@Suite("Plans from files")
struct PlanRunTests {
  /// Prepares the first events of the project's sample, a fleet about them, and the sample's policy.
  private func withSample<T>(events: Int, devices: Int, _ body: (PlanOptions) throws -> T) throws -> T {
    let resources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources/rouse/Resources").path
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("plan-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var reader = try LineReader(path: "\(resources)/flights-nyc-2013-03-08.jsonl.gz")
    var lines = try LineWriter(path: "\(folder)/events.jsonl")
    for _ in 0..<events {
      guard let line = try reader.next() else { break }
      try lines.append(line)
      try lines.endLine()
    }
    try lines.close()
    let fleet = try FleetGenerator(
      subjects: try FleetSubjects(eventsPath: "\(folder)/events.jsonl"),
      options: FleetOptions(devices: devices, seed: 3, template: try FleetTemplate(kindsOption: Self.kinds)))
    var registrations = try LineWriter(path: "\(folder)/devices.jsonl")
    try fleet.write(to: &registrations)
    try registrations.close()
    let policy = try PolicyDocument(
      bytes: Array(try Data(contentsOf: URL(fileURLWithPath: "\(resources)/flights.policy.yaml"))), file: "policy")
    return try body(
      PlanOptions(policy: policy.policy, devices: "\(folder)/devices.jsonl", events: "\(folder)/events.jsonl"))
  }

  private static let kinds = "FlightStatus=flight/:5,AirportDelays=airport/:4,WeatherNow=weather/:1"

  @discardableResult
  private func run(
    _ options: PlanOptions, observe: @escaping (PlannerOutput, borrowing Planner) throws -> Void
  ) throws -> PlanSummary {
    try PlanRun(options, observe: observe).run()
  }

  /// An event and an instance that it reaches.
  private struct Pair: Hashable {
    var event, device, instance: Identifier
  }

  @Test("every event on an instance ends in exactly one final decision, and log time never runs backwards")
  func oneFinal() throws {
    try withSample(events: 2_500, devices: 150) { options in
      var finals: [Pair: Int] = [:]
      var last = Timestamp(microseconds: .min)
      var ids: Set<Identifier> = []
      let summary = try run(options) { (output, planner) in
        for index in 0..<output.decisionCount {
          let decision = planner.decision(index, of: output)
          let pair = Pair(event: decision.event, device: decision.device, instance: decision.instance)
          finals[pair, default: 0] += decision.final ? 1 : 0
          #expect(decision.at >= last)
          last = decision.at
          #expect(ids.insert(decision.decision).inserted)
        }
      }
      #expect(summary.decisions == ids.count)
      #expect(summary.decisions > 5_000)
      #expect(summary.ticks > 20)
      #expect(summary.pending == 0)
      #expect(finals.values.allSatisfy { $0 == 1 })
      #expect(summary.outcomes.reduce(0) { $0 + $1.count } == summary.decisions)
      #expect(summary.commands == summary.commandsBySurface.reduce(0) { $0 + $1.count })
      #expect(summary.devices == 150)
    }
  }

  @Test("without the drain, pending counts the pairs without a final decision")
  func pending() throws {
    try withSample(events: 1_000, devices: 100) { options in
      var options = options
      options.drain = nil
      var open: Set<Pair> = []
      let summary = try run(options) { (output, planner) in
        for index in 0..<output.decisionCount {
          let decision = planner.decision(index, of: output)
          let pair = Pair(event: decision.event, device: decision.device, instance: decision.instance)
          if decision.final { open.remove(pair) } else { open.insert(pair) }
        }
      }
      #expect(summary.pending == open.count)
      #expect(summary.pending > 0)
    }
  }

  @Test("an error of the observer ends the run and leaves no output")
  func observerFails() throws {
    struct Stop: Error {}
    try withSample(events: 100, devices: 50) { options in
      var options = options
      let decisions = options.events + ".decisions"
      options.decisions = decisions
      #expect(throws: Stop.self) { try run(options) { (_, _) in throw Stop() } }
      #expect(!FileManager.default.fileExists(atPath: decisions))
    }
  }

  /// A device with a widget about an airport.
  private static let airportWidget =
    #"{"device":"p","app":"a","environment":"production","platform":"iOS","osVersion":"26","timeZone":"UTC","#
    + #""updatedAt":"2013-01-01T00:00:00Z","tokens":{"widgets":"ab"},"#
    + #""widgets":[{"id":"w","kind":"AirportDelays","interests":["airport/EWR"]}]}"#

  /// Two changes in the last second that RFC 3339 can express.
  private static let lastSecond = [60, 90].map { waiting in
    #"{"specversion":"1.0","id":"\#(waiting)","source":"s","type":"airport.delays.changed","subject":"airport/EWR","#
      + #""time":"9999-12-31T23:59:5\#(waiting == 60 ? 8 : 9)Z","data":{"waitingFlights":\#(waiting),"previousWaitingFlights":0}}"#
      + "\n"
  }.joined()

  /// Writes registrations and events, and passes options that name them.
  private func withFiles<T>(
    devices: String, events: String, _ policy: Policy, _ body: (PlanOptions) throws -> T
  ) throws -> T {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("plan-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let paths = [("devices.jsonl", devices), ("events.jsonl", events)].map { name, lines in
      (folder.appendingPathComponent(name), lines)
    }
    for (path, lines) in paths { try Data(lines.utf8).write(to: path) }
    return try body(PlanOptions(policy: policy, devices: paths[0].0.path, events: paths[1].0.path))
  }

  @Test("a timer that is due after the end of the planner's clock does not keep a run from ending")
  func endOfTime() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let policy = try PolicyDocument(
      bytes: Array(try Data(contentsOf: root.appendingPathComponent("schemas/examples/policy/valid/airports.yaml"))),
      file: "policy")
    let summary = try withFiles(devices: Self.airportWidget, events: Self.lastSecond, policy.policy) {
      try PlanRun($0).run()
    }
    #expect(summary.events == 2)
    #expect(summary.commands == 1)
    #expect(summary.pending == 1)
  }

  @Test("devices register the activities that pushes start if they are told to; otherwise these run as the files say")
  func registersActivities() throws {
    let device =
      #"{"device":"p","app":"a","environment":"production","platform":"iOS","osVersion":"26","timeZone":"UTC","#
      + #""updatedAt":"2026-06-01T00:00:00Z","pushToStart":[{"kind":"Match","token":"ab","interests":["match/1"]}]}"#
    let events = ["started", "goal", "goal", "final"].enumerated().map { number, type in
      #"{"specversion":"1.0","id":"\#(number)","source":"s","type":"match.\#(type)","subject":"match/1","#
        + #""time":"2026-06-01T19:\#(10 * number + 10):00Z","data":{"score":\#(number)}}"#
    }
    let policy = try PolicyDocument(
      yaml: """
        version: "1"
        kinds:
          Match:
            surface: liveActivity
            activity:
              attributesType: MatchAttributes
              contentState: { score: "{data.score}" }
              alert: { title: Match, body: "{data.score}" }
            rules:
              - { event: match.started, action: start, relevance: { base: 1 } }
              - { event: match.final, action: end, relevance: { base: 1 } }
              - { event: match.goal, relevance: { base: 0.9 } }
        """, file: "policy")
    for registers in [false, true] {
      var kinds: [String] = []
      let summary = try withFiles(devices: device, events: events.joined(separator: "\n"), policy.policy) { options in
        var options = options
        options.registersActivities = registers
        return try run(options) { (output, planner) in
          for index in output.commands.indices {
            let payload = planner.command(index, of: output).apns.payload
            kinds.append(["start", "update", "end"].first { payload.contains(#""event":"\#($0)""#) } ?? "none")
          }
        }
      }
      // The registration is answered, too.
      #expect(kinds == (registers ? ["start", "update", "update", "update", "end"] : ["start"]))
      #expect(summary.zombies == (registers ? 0 : 1))
      #expect(summary.registrations == 1, "of the file")
    }
  }

  @Test("an event with an integer of more than 64 bits that an interest key reads is refused with its line")
  func inexactNumber() throws {
    func event(_ order: String) -> String {
      #"{"specversion":"1.0","id":"\#(order)","source":"s","type":"order.placed","subject":"orders","#
        + #""time":"2026-06-01T19:20:00Z","data":{"orderId":\#(order),"serial":99999999999999999999}}"#
    }
    let lines = ["18446744073709551615", "18446744073709551616", "7"].map(event)
    let device = Self.airportWidget.replacing("airport/EWR", with: "order/18446744073709551615")
    let policy = try PolicyDocument(
      yaml: """
        version: "1"
        kinds:
          AirportDelays:
            rules: [ { event: order.placed, interests: ["order/{data.orderId}"], relevance: { base: 0.9 } } ]
        """, file: "policy")
    let summary = try withFiles(devices: device, events: lines.joined(separator: "\n"), policy.policy) {
      try PlanRun($0).run()
    }
    #expect(summary.commands == 1)
    #expect(summary.deadLetters == 1 && summary.refusedEvents == 1)
    let refused = try #require(summary.firstDeadLetters.first)
    #expect(refused.code == .inexactNumber && refused.path == "$.data.orderId" && refused.line == 2)
    #expect(refused.value.map { String(decoding: $0, as: UTF8.self) } == lines[1])
  }
}
