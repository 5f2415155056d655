import Domain
import JSON
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Brokers refuse a record of more than about 1 MB by default. A planner whose output they refuse could never commit.
@Suite("Every record that a planner writes fits into a topic")
struct WritableOutputTests {
  /// Kafka's default `message.max.bytes` is 1,048,588 for a batch, so this leaves room for a key and headers.
  private static let recordBytesMax = 1_000_000

  /// Returns a text of 256 bytes that JSON escapes sixfold.
  private static func controls(_ number: Int) -> Identifier {
    let digits = String(number, radix: 31).utf8.map { UnicodeScalar(1 + ($0 >= 97 ? $0 - 87 : $0 - 48)) }
    let end = String(String.UnicodeScalarView(digits))
    return Identifier(String(repeating: "\u{1F}", count: 256 - end.utf8.count) + end)
  }

  /// Reports an event to 64 widgets, lets 32 more wait on each, and returns the harness after the push of them all.
  private func merged(name: (Int) -> Identifier) -> H {
    var h = H(
      .flights {
        $0.budget = InstanceBudget(perDay: 48, minInterval: .hours(1))
        $0.halfLife = .hours(4)
        $0.displays = []
      })
    let widgets = (0..<64).map { Registration.Widget.flight(name($0), interests: ["s/\($0)", "all"]) }
    h.register(.phone(widgets: widgets))
    h.event(.delay(5, id: "first", subject: "all", at: H.noon + 1))
    for i in 0..<32 * 64 {
      h.event(.delay(5, id: name(i), subject: "s/\(i % 64)", at: H.noon + 2 + Int64(i)))
    }
    h.drain(until: H.noon + 2 * H.hour)
    return h
  }

  @Test("a command that merges as many waiting events as there may be, with the longest ids, fits")
  func largestCommand() throws {
    let h = merged(name: Self.controls)
    let command = try #require(h.commands.last)
    #expect(command.serves.count == 64)
    let bytes = command.json().count
    #expect(bytes <= Self.recordBytesMax, "\(bytes) bytes")
    for served in command.serves {
      #expect(served.events.count == 2 && served.eventsLeftOut == 30)
      let told = h.decisions.filter { $0.command == command.command && $0.instance == served.instance }
      // Every event has a decision that names the command, and those that are listed are the newest.
      #expect(told.count == 32)
      #expect(told.first { $0.verdict == .emit }?.events.suffix(2) ?? served.events[...] == served.events[...])
    }
    #expect(h.decisions.allSatisfy { $0.json().count <= Self.recordBytesMax })
  }

  @Test("usual ids are all listed, and nothing is counted as left out")
  func usualIDs() throws {
    let h = merged { "0199a7c1-6a4f-7f4e-9d0c-\(1_000_000_000_000 + $0)" }
    let command = try #require(h.commands.last)
    #expect(command.serves.count == 64)
    #expect(command.serves.allSatisfy { $0.events.count == 32 && $0.eventsLeftOut == 0 })
    #expect(!String(decoding: command.json(), as: UTF8.self).contains("eventsLeftOut"))
  }

  @Test("a list of ids takes as many bytes as the bound allows, with escapes counted", arguments: [1, 2, 6])
  func boundOfIDs(escape: Int) throws {
    let letter = [1: "x", 2: "\"", 6: "\u{1}"][escape] ?? ""
    let h = merged { number in
      let end = "\(number)"
      return Identifier(String(repeating: letter, count: 200 - end.utf8.count) + end)
    }
    for served in try #require(h.commands.last).serves {
      var json = JSONWriter()
      json.beginArray()
      for event in served.events { json.string(event.text) }
      json.endArray()
      let list = json.bytes.count - 1
      #expect(list <= DomainBounds.servedEventBytesMax, "\(list) bytes")
      #expect(list + 3 + 200 * escape > DomainBounds.servedEventBytesMax, "another id would fit into \(list) bytes")
      #expect(served.events.count + served.eventsLeftOut == 32)
    }
  }

  // MARK: State

  /// A policy with kinds of activities that every event starts, without a limit.
  private static func starts(kinds: Int) -> Policy {
    var policy = ActivityTests.policy(also: {
      $0.profile.activityStarts = $0.profile.devicePushes
      $0.profile.activityPushes = $0.profile.devicePushes
    })
    guard var kind = policy.kinds.first(where: { $0.surface == .liveActivity }) else { return policy }
    kind.rules = [
      Rule(
        event: "flight.boarding", interests: [InterestTemplate(parts: [.text("all")])],
        relevance: RelevanceFormula(base: 1), action: .start)
    ]
    policy.kinds = (0..<kinds).map { number in
      kind.name = "Activity\(number)"
      return kind
    }
    return policy
  }

  private static func register(starters kinds: Int, _ h: inout H, at time: Int64 = H.noon) {
    let starters = (0..<kinds).map {
      Registration.PushToStart(kind: "Activity\($0)", token: "dd", interests: ["all"])
    }
    h.register(ActivityTests.phone(starters: starters, at: time), at: time)
  }

  private static func restored(_ state: [[UInt8]: [UInt8]], _ policy: Policy) throws -> Planner {
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    for (key, value) in topicOrder(state) { try restore.add(key: key, value: value) }
    return try restore.finish(initialPolicy: policy)
  }

  @Test("the state of a device with many remembered starts is written in pieces, and restores")
  func manyStarts() throws {
    let kinds = 4
    var h = H(Self.starts(kinds: kinds))
    var bounds = PlannerBounds.expecting(.none)
    bounds.stateSpareBytes = 0
    h.planner = Planner(policy: Self.starts(kinds: kinds), bounds: bounds)
    Self.register(starters: kinds, &h)
    let subjects: [Identifier] = (0..<600).map { "\(String(repeating: "s", count: 240))-\($0)" }
    for (i, subject) in subjects.enumerated() {
      h.event(.delay(5, id: "e\(i)", subject: subject, at: H.noon + Int64(i), type: "flight.boarding"))
    }
    #expect(h.commands.count == 600 * kinds)
    var state: [[UInt8]: [UInt8]] = [:]
    h.planner.takeChanges { state[Array($0)] = $1.map(Array.init) }
    let largest = state.values.map(\.count).max() ?? 0
    #expect(largest <= PlannerBounds().stateChunkBytesMax, "\(largest) bytes")
    #expect(state.values.reduce(0) { $0 + $1.count } > 600_000)
    let chunks = { state.keys.filter { $0.starts(with: "c/".utf8) }.count }
    #expect(chunks() > 9)
    // A repeated start is refused by the restored planner as by the one that never stopped.
    h.planner = try Self.restored(state, Self.starts(kinds: kinds))
    h.event(.delay(5, id: "again", subject: subjects[0], at: H.noon + H.minute, type: "flight.boarding"))
    #expect(h.last.map(\.reason) == Array(repeating: .awaitingToken, count: kinds))
    // When the device no longer has the tokens, the pieces go with them.
    Self.register(starters: 0, &h, at: H.noon + 2 * H.minute)
    h.tick(at: H.noon + 24 * H.hour)
    h.tick(at: H.noon + 48 * H.hour)
    h.planner.takeChanges { state[Array($0)] = $1.map(Array.init) }
    #expect(chunks() == 1)
    #expect(try Self.restored(state, Self.starts(kinds: kinds)).deviceCount == 1)
  }

  @Test(
    "a planner whose records are all in pieces restores from a topic that is compacted or not", arguments: 660..<664)
  func everythingInPieces(seed: Int) throws {
    var bounds = PlannerBounds()
    bounds.stateRecordBytesMax = 64
    bounds.stateChunkBytesMax = 100
    bounds.stateSpareBytes = 0
    var life = RandomLife(seed: UInt64(seed))
    life.harness.planner = Planner(policy: life.initialPolicy, bounds: bounds)
    var records: [(key: [UInt8], value: [UInt8]?)] = []
    for _ in 0..<400 {
      life.step()
      if Int.random(in: 0..<3, using: &life.random) > 0 { continue }
      life.harness.planner.takeChanges { records.append((Array($0), $1.map(Array.init))) }
    }
    life.harness.planner.takeChanges { records.append((Array($0), $1.map(Array.init))) }
    let chunks = records.filter { $0.key.starts(with: "c/".utf8) }
    #expect(chunks.contains { $0.value == nil }, "seed \(seed): no piece was removed")
    for chunk in chunks { #expect(chunk.value?.count ?? 0 <= 100) }
    var compacted: [[UInt8]: [UInt8]] = [:]
    for record in records { compacted[record.key] = record.value }
    for topic in [records, topicOrder(compacted).map { ($0.key, $0.value) }] {
      var restore = PlannerRestore(partition: 0, partitionCount: 1, bounds: bounds)
      for record in topic { try restore.add(key: record.key, value: record.value) }
      var (undisturbed, restored) = (life, life)
      restored.harness.planner = try restore.finish(initialPolicy: life.initialPolicy)
      for _ in 0..<100 {
        undisturbed.step()
        restored.step()
      }
      #expect(undisturbed.harness.decisions == restored.harness.decisions, "seed \(seed)")
      // The restored planner goes on with the same chunks.
      let next = [undisturbed, restored].map { $0.harness.planner.deviceLog.next }
      #expect(next[0] == next[1], "seed \(seed)")
      restored.harness.planner.takeChanges { _, _ in }
      restored.harness.planner.checkInvariants()
    }
  }

  @Test("a record in pieces of which one is missing or damaged is refused")
  func damagedPieces() throws {
    var bounds = PlannerBounds()
    bounds.stateChunkBytesMax = 100
    var h = H()
    h.planner = Planner(policy: .flights(), bounds: bounds)
    h.register(.phone(widgets: [.flight(), .flight("w2"), .flight("w3"), .flight("w4")]))
    var state: [[UInt8]: [UInt8]] = [:]
    h.planner.takeChanges { state[Array($0)] = $1.map(Array.init) }
    let piece = Array("c/1".utf8)
    #expect(state[Array("c/2".utf8)] != nil)
    #expect(try Self.restored(state, .flights()).deviceCount == 1)
    var damaged = state
    damaged[piece]?[12] ^= 1
    #expect(throws: BinaryError.self) { _ = try Self.restored(damaged, .flights()) }
    damaged = state
    damaged[piece] = nil
    #expect(throws: StateRecordError.self) { _ = try Self.restored(damaged, .flights()) }
  }
}
