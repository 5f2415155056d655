import Domain
import JSON
import Policies
import Testing

@testable import Planning

@Suite("Decisions and commands written directly from the tables")
struct DecisionWriterTests {
  /// Applies records to a planner, and compares the bytes of each decision and command from `DecisionWriter` with
  /// those of its codec.
  private struct Comparison: ~Copyable {
    var planner: Planner
    var writer = DecisionWriter()
    var output = PlannerOutput()
    var offset: Int64 = 0
    var compared = 0
    var withCommand = 0
    var merged = 0
    var widgetPushes = 0

    mutating func apply(_ content: LogRecord.Content, at time: Int64) {
      planner.begin(content, offset: offset, timestamp: Timestamp(microseconds: time))
      offset += 1
      var done = false
      while !done {
        done = planner.advance(into: &output, decisionsMax: 2)
        for index in 0..<output.decisionCount {
          let decision = planner.decision(index, of: output)
          var json = JSONWriter()
          writer.write(index, of: output, by: planner, to: &json)
          #expect(json.text == String(decoding: decision.json(), as: UTF8.self))
          compared += 1
          if decision.command != nil { withCommand += 1 }
          if decision.events.count > 1 { merged += 1 }
        }
        for index in 0..<output.commandCount {
          var json = JSONWriter()
          writer.write(command: index, of: output, by: planner, to: &json)
          #expect(json.text == String(decoding: planner.command(index, of: output).json(), as: UTF8.self))
          if output.commands[index].push.surface == .widget { widgetPushes += 1 }
        }
      }
    }
  }

  @Test(
    "the bytes equal those of the decision's own codec, over random records", arguments: 1...4 as ClosedRange<UInt64>)
  func sameBytes(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var comparison = Comparison(planner: Planner(partition: 7, partitionCount: 8, policy: RandomLife.policy()))
    var time = PlannerHarness.noon
    for round in 0..<400 {
      time += Int64.random(in: 0...(10 * PlannerHarness.minute), using: &random)
      let device: Identifier = "d\"\(Int.random(in: 0..<3, using: &random))\u{7}é"
      if round < 3 || round % 40 == 0 {
        let os: UInt16 = Bool.random(using: &random) ? 26 : 18
        comparison.apply(
          .registration(
            .phone(
              device, widgets: [.flight("w1"), .flight("w\\2", kind: "Airport", interests: ["airport/EWR"])], os: os,
              tokens: Registration.Tokens(
                widgets: Registration.token(of: device), background: Registration.token(of: device, "bb22")),
              zone: "Asia/Tokyo", at: time)), at: time
        )
        continue
      }
      var event = DomainEvent.delay(
        Double(round), id: "e\n\(round)", at: time,
        type: ["flight.delay.changed", "flight.cancelled", "flight.gate.changed"][round % 3])
      if Bool.random(using: &random) { event.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }
      comparison.apply(.event(event), at: time)
    }
    #expect(comparison.compared > 300)
    #expect(comparison.withCommand > 0)
    #expect(comparison.merged > 0)
    #expect(comparison.widgetPushes > 0)
  }

  @Test("a policy change shows on the next decision of the same record")
  func policyChange() {
    var comparison = Comparison(planner: Planner(policy: .flights()))
    comparison.apply(.registration(.phone()), at: PlannerHarness.noon)
    comparison.apply(.event(.delay(5, id: "e1", at: PlannerHarness.noon)), at: PlannerHarness.noon)
    comparison.planner.activate(
      .flights(also: { $0.reference = PolicyReference(version: "other", hash: "ffffffffffffffff") }))
    comparison.offset -= 1
    comparison.apply(.event(.delay(50, id: "e2", at: PlannerHarness.noon)), at: PlannerHarness.noon)
    #expect(comparison.compared == 2)
  }

  @Test("an app that took over another app's slot is named by its own id")
  func slotOfAnotherApp() {
    var comparison = Comparison(planner: Planner(policy: .flights()))
    for round in 0..<5 {
      let time = PlannerHarness.noon + Int64(round) * 24 * PlannerHarness.hour
      comparison.apply(.registration(.phone(at: time, app: "com.example.build\(round)")), at: time)
      comparison.apply(.event(.delay(Double(round) * 5, id: "e\(round)", at: time)), at: time)
    }
    #expect(comparison.planner.appSlots == 2)
    #expect(comparison.widgetPushes == 5)
  }
}
