import Domain
import Observing
import Testing

@testable import Pipeline

@Suite("Ages of events") struct EventTimesTests {
  private let registry = MetricRegistry()
  private let decided: MetricFamily
  private let committed: MetricFamily
  private let bounds = [1.0, 10]

  init() {
    decided = registry.histogram("decided_seconds", bounds, help: "", advice: "")
    committed = registry.histogram("committed_seconds", bounds, help: "", advice: "")
  }

  private func time(_ second: Int64) -> Timestamp { Timestamp(microseconds: second * 1_000_000) }

  private func buckets(_ name: String) -> [String] {
    let lines = String(decoding: Exposition.bytes(of: registry, as: .prometheus), as: UTF8.self).split(separator: "\n")
    return lines.filter { $0.hasPrefix("\(name)_seconds_") }.compactMap {
      $0.split(separator: " ").last.map(String.init)
    }
  }

  @Test("each event of a batch counts with its own age, and an event of the future has the age 0")
  func each() {
    var times = EventTimes(bounds: bounds)
    for second: Int64 in [5, 5, 9, 4, 20] { times.note(time(second)) }
    times.observeDecided(decided, at: 10_000_000)
    // Ages of 5, 5, 1, 6 and 0 s: two up to 1 s, five up to 10 s.
    #expect(buckets("decided") == ["2", "5", "5", "17", "5"])
    times.observeDecided(decided, at: 99_000_000)
    #expect(buckets("decided") == ["2", "5", "5", "17", "5"], "an event is decided once")
  }

  @Test("the events of all turns since the last commit count at the commit, each once")
  func commits() {
    var times = EventTimes(bounds: bounds)
    times.note(time(9))
    times.observeDecided(decided, at: 10_000_000)
    times.note(time(10))
    times.note(time(0))
    times.observeDecided(decided, at: 10_000_000)
    times.observeCommitted(committed, at: 11_000_000)
    #expect(buckets("decided") == ["2", "3", "3", "11", "3"])
    #expect(buckets("committed") == ["1", "2", "3", "14", "3"])
    times.observeCommitted(committed, at: 50_000_000)
    #expect(buckets("committed") == ["1", "2", "3", "14", "3"])
  }

  @Test("events of an aborted transaction never count as committed")
  func aborted() {
    var times = EventTimes(bounds: bounds)
    times.note(time(9))
    times.observeDecided(decided, at: 10_000_000)
    times.removeAll()
    times.note(time(8))
    times.observeCommitted(committed, at: 10_000_000)
    #expect(buckets("decided") == ["1", "1", "1", "1", "1"])
    #expect(buckets("committed") == ["0", "1", "1", "2", "1"])
  }

  @Test("beyond the most events of a transaction, ages are counted when events are decided and not at the commit")
  func bound() {
    var times = EventTimes(bounds: bounds)
    for _ in 0..<EventTimes.uncommittedMax + 2 { times.note(time(9)) }
    times.observeDecided(decided, at: 10_000_000)
    times.observeCommitted(committed, at: 10_000_000)
    #expect(buckets("decided").last == "\(EventTimes.uncommittedMax + 2)")
    #expect(buckets("committed").last == "\(EventTimes.uncommittedMax)")
  }
}
