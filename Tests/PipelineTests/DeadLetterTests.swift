import Domain
import Foundation
import KafkaClient
import Testing

@testable import Installation
@testable import Operating
@testable import Pipeline

@Suite("dead letters")
struct DeadLetterTests {
  @Test(
    "a dead letter names its reason and origin, and is replayed once and unchanged; planners drop a record that arrives twice",
    arguments: EndToEndTests.brokers)
  func replay(broker: String?) throws {
    let fixture = try PipelineFixture(bootstrap: broker)
    // Intake forgets an event when two more have come; planners remember it.
    fixture.settings.intake.duplicateWindow = 1
    let events = fixture.settings.eventTopics[0]
    let letters = fixture.settings.topics.deadLetters
    let queue = DeadLetterQueue(settings: fixture.settings.cluster)
    let good =
      #"{"specversion":"1.0","id":"late","source":"/test","type":"flight.delay.changed","subject":"flight/UA1","#
      + #""time":"2026-07-01T12:00:10Z","data":{"delay":30}}"#
    let done = try fixture.run(
      fixture.registering(1),
      fixture.phase(.deadLetters, plus: 1) {
        try fixture.publish(events, key: "k", value: Array("{".utf8), headers: [KafkaHeader("mine", "1")])
      },
      // As if a former release had refused it.
      fixture.phase(.eventsAccepted, plus: 1) {
        try fixture.publish(
          letters, key: "k", value: Array(good.utf8),
          headers: [
            KafkaHeader("rouse-reason", "NEW_RULE"), KafkaHeader("rouse-origin-topic", events),
            KafkaHeader("rouse-origin-partition", "0"), KafkaHeader("rouse-origin-offset", "0"),
          ])
        #expect(try queue.replay(queue.newest(10, reason: "NEW_RULE")).replayed.count == 1)
      },
      fixture.phase(.decisions, plus: 3) {
        let report = try queue.replay(queue.newest(10, reason: "NEW_RULE"))
        #expect(report.replayed.isEmpty && report.replayedBefore.count == 1 && report.refused.isEmpty)
        for number in 0..<2 { try fixture.delay(40 + number * 10, id: "e\(number)", after: 120 + Int64(number)) }
        // A publisher sends the same event again.
        try fixture.publish(events, key: "k", value: Array(good.utf8))
      },
      fixture.phase(.deadLetters, plus: 1) {
        let bad = try #require(try queue.newest(10).first { $0.reason != "NEW_RULE" })
        #expect(try queue.replay([try queue.letter(at: bad.place)]).replayed.count == 1)
      })
    #expect(done)
    let found = try queue.newest(10)
    #expect(found.count == 3)
    let first = try #require(
      found.first { letter in
        letter.reason != "NEW_RULE" && !letter.message.headers.contains { $0.name == DeadLetterHeaders.replayedFrom }
      })
    let second = try #require(
      found.first { letter in letter.message.headers.contains { $0.name == DeadLetterHeaders.replayedFrom } })
    #expect(first.origin?.partition == KafkaTopicPartition(topic: events, partition: 0))
    #expect(!first.text.isEmpty)
    #expect(second.reason == first.reason)
    #expect(second.message.key == first.message.key && second.message.value == first.message.value)
    #expect(second.message.headers.contains(KafkaHeader("mine", "1")))
    #expect(second.message.headers.contains(KafkaHeader(DeadLetterHeaders.replayedFrom, "\(first.place)")))
    #expect(try queue.newest(1).count == 1)
    #expect(fixture.counters[.duplicatesDropped] == 0)
    let late = try fixture.decisions().values.filter { $0.event == "late" }
    #expect(late.map(\.reason.rawValue).sorted() == ["DUPLICATE", "EMITTED"])
    #expect(late.filter(\.final).count == 1)
    #expect(found.count { $0.replayedAt != nil } == 2)
    let error = #expect(throws: KafkaError.self) {
      _ = try queue.letter(at: KafkaPosition(first.place.partition, offset: 1000))
    }
    #expect(error?.isRetriable == false)
  }

  @Test("records that intake refuses are not counted as accepted")
  func refusedAreNotAccepted() throws {
    let fixture = try PipelineFixture()
    let topics = fixture.settings.topics
    let done = try fixture.run(
      roles: [.intake],
      fixture.phase(.deadLetters, plus: 4) {
        try fixture.publish(topics.devices, key: "d0", value: Array("{".utf8))
        try fixture.publish(topics.devices, key: nil, value: nil)
        try fixture.publish(topics.signals, key: "d0", value: Array("{".utf8))
        try fixture.publish(fixture.settings.eventTopics[0], key: "k", value: Array("{".utf8))
      },
      fixture.phase(.registrationsAccepted, plus: 2) {
        try fixture.register("d0", interest: "flight/UA1")
        // A tombstone, which forgets the device.
        try fixture.publish(topics.devices, key: "d0", value: nil)
      })
    #expect(done)
    #expect(fixture.counters[.registrationsAccepted] == 2)
    #expect(fixture.counters[.signalsAccepted] == 0 && fixture.counters[.eventsAccepted] == 0)
    #expect(fixture.counters[.deadLetters] == 4)
  }

  @Test("the list is read backwards in parts that miss and repeat nothing, whatever their size and the windows are")
  func pages() throws {
    let fixture = try PipelineFixture()
    let topic = fixture.settings.topics.deadLetters
    func post(_ number: Int, reason: String) throws {
      try fixture.publish(
        topic, key: "k\(number)", value: Array("v".utf8),
        headers: [
          KafkaHeader("rouse-reason", reason), KafkaHeader("rouse-origin-topic", fixture.settings.eventTopics[0]),
          KafkaHeader("rouse-origin-partition", "0"), KafkaHeader("rouse-origin-offset", "\(number)"),
        ])
    }
    for number in 0..<60 { try post(number, reason: number % 20 == 0 ? "RARE" : "OFTEN") }
    let queue = DeadLetterQueue(settings: fixture.settings.cluster, window: 4)
    let whole = try DeadLetterQueue(settings: fixture.settings.cluster).newest(1000).map(\.place)
    #expect(whole.count == 60 && Set(whole).count == 60)
    for limit in [1, 7, 100] {
      var places: [KafkaPosition] = []
      var cursor: DeadLetterCursor?
      repeat {
        let page = try queue.page(limit, from: cursor)
        #expect(page.letters.count <= limit && !page.letters.isEmpty)
        places += page.letters.map(\.place)
        cursor = page.next
      } while cursor != nil
      #expect(places == whole, "\(limit)")
    }
    #expect(try queue.newest(2, reason: "RARE").count == 2)
    // A part that may read little ends early, and the next one goes on there.
    var (rare, parts, cursor) = (0, 0, DeadLetterCursor?.none)
    repeat {
      let page = try queue.page(10, reason: "RARE", from: cursor, readMax: 8)
      (rare, parts, cursor) = (rare + page.letters.count, parts + 1, page.next)
    } while cursor != nil
    #expect(rare == 3 && parts > 1)
    // A receipt behind the place counts for the letters before it.
    let oldest = try #require(whole.last)
    #expect(try queue.replay([try queue.letter(at: oldest)]).replayed.count == 1)
    let start = DeadLetterCursor(tops: [oldest.partition.partition: oldest.offset + 1])
    #expect(try queue.page(9, from: start).letters.map { $0.replayedAt != nil } == [true])
    #expect(try queue.page(9, waiting: true, from: start).letters.isEmpty)
    #expect(try queue.newest(1000, waiting: true).count == 59)
  }
}
