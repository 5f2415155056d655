import Domain
import Observing
import Testing

@testable import Pipeline

@Suite("Ages of events") struct EventTimesTests {
  private let histogram = MetricRegistry().histogram("test_seconds", [1, 10], help: "", advice: "")

  @Test("the oldest and the newest event of a batch stand for all of it, and an event of the future has the age 0")
  func ends() {
    var (times, more) = (EventTimes(), EventTimes())
    for second: Int64 in [5, 3, 4] { times.note(Timestamp(microseconds: second * 1_000_000)) }
    more.note(Timestamp(microseconds: 20_000_000))
    times.note(more)
    times.observe(histogram, at: 10_000_000)
    #expect(histogram.total == 7)
    EventTimes().observe(histogram, at: 10_000_000)
    #expect(histogram.total == 7)
  }
}
