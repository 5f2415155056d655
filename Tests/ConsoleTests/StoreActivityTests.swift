import Auditing
import Domain
import Foundation
import Testing

@testable import Console

@Suite("Activity and search of a store") struct StoreActivityTests {
  private static func store() throws -> AuditStore {
    let store = try AuditStore.open(path: ":memory:")
    var batch = AuditBatch()
    for n in 0..<150 {
      let isSent = n % 5 == 0
      batch.append(
        PageSample.decision(
          n, event: "e\(n % 7)", device: "device-\(n % 40)", kind: n % 2 == 0 ? "A" : "B",
          verdict: isSent ? .emit : .defer, reason: isSent ? .emitted : .belowPrice,
          command: isSent ? "c-0-\(n)-0" : nil))
      if isSent { batch.append(PageSample.command(n, kind: "A", event: "e1")) }
    }
    try store.store(batch)
    return store
  }

  @Test("the counts by hour add up to those of the whole store, without a gap between the hours")
  func counts() throws {
    let store = try Self.store()
    let (activity, summary) = (try store.activity(hours: 24), try store.summary())
    #expect(
      activity.hours.count == 24 && activity.outcomes == summary.outcomes && activity.surfaces == summary.surfaces)
    #expect(activity.decisions == 150 && activity.commands == 30 && activity.charged(.instance) == 30)
    #expect(activity.charged(.background) == 0)
    #expect(zip(activity.hours, activity.hours.dropFirst()).allSatisfy { $1.start == $0.start + .hours(1) })
    #expect(activity.hours.last?.start == PageSample.start + .hours(2))
    #expect(activity.kinds.map { $0.decisions.reduce(0, +) } == [75, 75] && activity.kinds.map(\.kind) == ["A", "B"])
    // The last hour has the decisions of 30 minutes.
    #expect(try store.activity(hours: 1).decisions == 30)
    #expect(try store.activity(hours: 100_000).hours.count == StoreActivity.hoursMax)
    #expect(try AuditStore.open(path: ":memory:").activity(hours: 1).hours.isEmpty)
  }

  @Test("events and devices are those with a decision in the hours, also when an event goes on into the next one")
  func names() throws {
    let store = try Self.store()
    func counts(_ hours: Int) throws -> [StoreActivity.DistinctCount] {
      let activity = try store.activity(hours: hours)
      return [activity.events, activity.devices]
    }
    func exact(_ counts: Int...) -> [StoreActivity.DistinctCount] { counts.map { .init($0, isEstimated: false) } }
    #expect(try counts(1) == exact(7, 30) && counts(2) == exact(7, 40) && counts(24) == exact(7, 40))
    // One event, in one page, from the third hour into the fifth.
    var batch = AuditBatch()
    for n in 150..<250 {
      batch.append(PageSample.decision(n, event: "long", device: "d-\(n)", verdict: .defer, reason: .belowPrice))
    }
    try store.store(batch)
    #expect(try counts(1) == exact(1, 10) && counts(2) == exact(1, 70) && counts(3) == exact(8, 130))
    #expect(try counts(24) == exact(8, 140))
    var many = AuditBatch()
    for n in 0..<3_000 {
      many.append(
        PageSample.decision(
          1_000_000 + n, event: "m\(n)", device: "d-1", verdict: .defer, reason: .belowPrice,
          minute: 245))
    }
    try store.store(many)
    let activity = try store.activity(hours: 1)
    #expect(activity.events.isEstimated && !activity.devices.isEstimated)
    #expect((2_700...3_300).contains(activity.events.count) && activity.devices.count == 11)
  }

  @Test("the lines behind the bars stand at round numbers of decisions")
  func lines() throws {
    for (decisions, lines) in [(1, ["0", "1"]), (7, ["0", "2", "4", "6"]), (588, ["0", "200", "400"])] {
      let store = try AuditStore.open(path: ":memory:")
      var batch = AuditBatch()
      for n in 0..<decisions { batch.append(PageSample.decision(n, minute: 0)) }
      try store.store(batch)
      let drawing = HourChart.drawing(try store.activity(hours: 1), PageTime()).text
      let texts = drawing.components(separatedBy: "text-anchor=\"end\" class=\"label\">").dropFirst()
      #expect(texts.map { String($0.prefix { $0 != "<" }) } == lines)
    }
  }

  @Test("the decisions about an event by minute add up to all of them")
  func spread() throws {
    let store = try Self.store()
    let (spread, effect) = (try store.spread(ofEvent: "e1"), try store.event("e1"))
    #expect(spread.minutes.reduce(0) { $0 + $1.decisions.reduce(0, +) } == effect.decisions && effect.decisions == 22)
    #expect(spread.minutes.first?.start == effect.first && spread.minutes.count == 22)
    #expect(try store.spread(ofEvent: "none").minutes.isEmpty)
  }

  @Test("things are found by their id, and devices, events and kinds by its beginning")
  func search() throws {
    let store = try Self.store()
    #expect(try store.search("device-1").exact == [.device("device-1")])
    #expect(try store.search("device-1").prefixed == (10...19).map { .device("device-\($0)") })
    #expect(try store.search("e1").exact == [.event("e1")] && store.search("A").exact == [.kind("A")])
    #expect(try store.search("c-0-5-0").exact == [.command("c-0-5-0")])
    #expect(try store.search("d-0-5-0").exact == [.decision("d-0-5-0")])
    let few = try store.search("device-", limit: 3)
    #expect(few.exact.isEmpty && few.prefixed.count == 3 && few.isBounded)
    let none = try store.search("x")
    #expect(none.exact.isEmpty && none.prefixed.isEmpty && !none.isBounded)
  }
}
