import Foundation
import JSON
import KafkaClient
import Testing

/// Runs the commands against an embedded broker, with letters in the format of intake.
@Suite("rouse dead-letters", .serialized)
struct DeadLettersTests {
  /// A broker with the topics of the commands, and functions that write letters and read records.
  private final class Post {
    let place: Workplace
    let broker: EmbeddedBroker
    private let producer: KafkaProducer

    init() throws {
      place = try Workplace()
      broker = try EmbeddedBroker()
      for topic in ["rouse.dead-letters", "rouse.devices", "rouse.log"] { try broker.createTopic(topic, partitions: 1) }
      try broker.createTopic("events", partitions: 2)
      producer = try KafkaProducer(
        KafkaConfiguration([("bootstrap.servers", broker.bootstrapServers), ("enable.idempotence", "true")]))
    }

    func publish(_ topic: String, _ key: String, _ value: String?, headers: [KafkaHeader] = []) throws {
      try producer.send(
        topic: topic, partition: topic == "events" ? 1 : 0, key: Array(key.utf8), value: value.map { Array($0.utf8) },
        headers: headers)
      #expect(try producer.flush(timeout: .seconds(60)))
      #expect(producer.takeDeliveryFailures().isEmpty)
    }

    /// Writes a dead letter about the record at a place.
    func post(
      _ key: String, _ value: String, reason: String, topic: String, partition: Int = 0, offset: Int = 0,
      headers: [KafkaHeader] = []
    ) throws {
      try publish(
        "rouse.dead-letters", key, value,
        headers: headers + [
          KafkaHeader("rouse-reason", reason), KafkaHeader("rouse-message", "$.time: missing"),
          KafkaHeader("rouse-origin-topic", topic), KafkaHeader("rouse-origin-partition", "\(partition)"),
          KafkaHeader("rouse-origin-offset", "\(offset)"),
        ])
    }

    func letters(_ arguments: String...) throws -> Outcome {
      try place.rouse(list: ["dead-letters"] + arguments + ["--bootstrap", broker.bootstrapServers])
    }

    /// Returns every record of a partition.
    func records(_ topic: String, _ partition: Int32 = 0) throws -> [KafkaMessage] {
      let consumer = try KafkaConsumer(
        KafkaConfiguration([
          ("bootstrap.servers", broker.bootstrapServers), ("group.id", "looking"), ("enable.partition.eof", "true"),
        ]))
      defer { consumer.close() }
      let partition = KafkaTopicPartition(topic: topic, partition: partition)
      try consumer.assign([partition: .beginning])
      var messages: [KafkaMessage] = []
      while true {
        let batch = try consumer.poll(maxMessages: 100, timeout: .milliseconds(100))
        messages += batch.messages
        for case .partitionEnd in batch.events { return messages }
      }
    }
  }

  private static let event = delay("e1", 30, at: "15:00:00")

  @Test("list prints reason and origin, the newest first; show prints headers and bytes")
  func look() throws {
    let post = try Post()
    #expect(try post.letters("list").err == "no dead letters\n")
    #expect(try post.letters("list", "--format", "json").out == "[]\n")
    try post.post("k1", "{oops", reason: "INVALID_JSON", topic: "events", partition: 1, offset: 7)
    try post.post(
      "k2", "{}", reason: "MISSING_FIELD", topic: "events", offset: 9, headers: [KafkaHeader("ce_id", [0xff, 0x01])])
    let list = try post.letters("list")
    #expect(list.status == 0)
    #expect(list.lines.count == 4)
    #expect(list.lines[0].hasPrefix("rouse.dead-letters[0]@1  20"))
    #expect(list.lines[0].hasSuffix("Z  MISSING_FIELD  from events[0]@9"))
    #expect(list.lines[1] == "    $.time: missing")
    #expect(list.lines[2].hasSuffix("INVALID_JSON  from events[1]@7"))
    let one = try JSONValue(parsing: post.letters("list", "--reason", "INVALID_JSON", "--format", "json").out)
    #expect(one[0]?["place"] == .string("rouse.dead-letters[0]@0"))
    #expect(one[0]?["origin"] == .string("events[1]@7"))
    #expect(one[0]?["bytes"] == .number(5))
    #expect(one[1] == nil)

    let show = try post.letters("show", "rouse.dead-letters[0]@0")
    #expect(show.status == 0)
    #expect(show.out.hasSuffix("rouse-origin-offset: 7\nkey: k1\nvalue, 5 bytes:\n{oops\n"), "\(show.out)")
    let json = try JSONValue(parsing: post.letters("show", "rouse.dead-letters[0]@1", "--format", "json").out)
    #expect(json["value"]?["text"] == .string("{}"))
    #expect(json["headers"]?[0]?["hex"] == .string("ff01"))
    let none = try post.letters("show", "rouse.dead-letters[0]@2")
    #expect(none.status == 1)
    #expect(none.err.hasPrefix("rouse: reading rouse.dead-letters[0]@2 failed: there is no record"), "\(none.err)")
    let wrong = try post.letters("show", "rouse.dead-letters")
    #expect(wrong.status == 2)
    #expect(wrong.err.contains("expected topic[partition]@offset"))
  }

  @Test("a misspelt reason is answered with the nearest one")
  func misspelt() throws {
    let post = try Post()
    let list = try post.letters("list", "--reason", "MISSING_FEILD")
    #expect(
      list.err == "no dead letter has the reason MISSING_FEILD\ndid you mean MISSING_FIELD?\n" && list.out.isEmpty)
    let replay = try post.letters("replay", "--reason", "MISSING_FEILD")
    #expect(
      replay.status == 1
        && replay.err == "rouse: no letter has the reason MISSING_FEILD; did you mean MISSING_FIELD?\n", "\(replay.err)"
    )
    let nothing = try post.letters("replay", "--reason", "MISSING_FIELD")
    #expect(nothing.status == 0 && nothing.err.hasPrefix("no letter with the reason MISSING_FIELD waits"))
    #expect(
      try post.letters("list", "--reason", "MISSING_FIELD").err == "no dead letter has the reason MISSING_FIELD\n")
  }

  @Test("replaying by reason continues with older letters after the newest were replayed")
  func batches() throws {
    let post = try Post()
    for number in 0..<5 {
      try post.post("k", delay("e\(number)", 30, at: "15:00:00"), reason: "NEW_RULE", topic: "events", partition: 1)
    }
    for expected in [[3, 4], [1, 2], [0], []] {
      let batch = try post.letters("replay", "--reason", "NEW_RULE", "--limit", "2")
      #expect(batch.status == 0, "\(batch.err)")
      #expect(batch.out == expected.map { "rouse.dead-letters[0]@\($0)  replayed to events\n" }.joined())
    }
    #expect(try post.records("events", 1).count == 5)
  }

  @Test("replay sends the same bytes, key and headers into the same partition; a second one sends nothing")
  func replay() throws {
    let post = try Post()
    try post.post(
      "k1", Self.event, reason: "NEW_RULE", topic: "events", partition: 1, headers: [KafkaHeader("mine", "1")])
    let letter = "rouse.dead-letters[0]@0"
    let first = try post.letters("replay", letter, letter)
    #expect(first.status == 0, "\(first.err)")
    #expect(first.out == "\(letter)  replayed to events\n")
    #expect(first.err == "1 letter replayed\n")
    for (arguments, words) in [
      ([letter], "\(letter): replayed before, left out\n0 letters replayed, 1 replayed before\n"),
      (["--reason", "NEW_RULE"], "no letter with the reason NEW_RULE waits to be replayed\n0 letters replayed\n"),
    ] {
      let again = try post.place.rouse(
        list: ["dead-letters", "replay"] + arguments + ["--bootstrap", post.broker.bootstrapServers])
      #expect(again.status == 0)
      #expect(again.out == "")
      #expect(again.err == words)
    }
    let sent = try post.records("events", 1)
    #expect(sent.count == 1)
    #expect(sent.first?.key == Array("k1".utf8))
    #expect(sent.first?.value == Array(Self.event.utf8))
    #expect(sent.first?.headers == [KafkaHeader("mine", "1"), KafkaHeader("rouse-replayed-from", letter)])
    // The list does not show the receipt as a letter, and it shows the letter as replayed.
    let list = try post.letters("list")
    #expect(list.lines.count == 2)
    #expect(list.lines[0].contains("from events[1]@0  replayed 20"))
    let json = try JSONValue(parsing: post.letters("show", letter, "--format", "json").out)
    #expect(json["replayed"] != nil)
  }

  @Test("one refused letter prevents the replay of all, unless refused letters are skipped")
  func refused() throws {
    let post = try Post()
    try post.post("k1", Self.event, reason: "NEW_RULE", topic: "events", partition: 1)
    try post.post("k2", "?", reason: "NEW_RULE", topic: "rouse.log", offset: 3)
    try post.publish("rouse.dead-letters", "k3", "?", headers: [KafkaHeader("rouse-reason", "NEW_RULE")])
    let refused = try post.letters("replay", "--reason", "NEW_RULE")
    #expect(refused.status == 1)
    #expect(refused.out == "")
    #expect(
      refused.err == """
        rouse.dead-letters[0]@1: refused: it is an internal record of rouse.log[0]@3; its source records are in the topics \
        that intake reads
        rouse.dead-letters[0]@2: refused: its headers do not name its origin; write it to its topic by hand
        rouse: 2 letters refused, so none was replayed; name the others only, or leave out what is refused with \
        --skip-refused

        """)
    #expect(try post.records("events", 1).isEmpty)
    let skipped = try post.letters("replay", "--reason", "NEW_RULE", "--skip-refused")
    #expect(skipped.status == 0)
    #expect(skipped.out == "rouse.dead-letters[0]@0  replayed to events\n")
    #expect(skipped.err.hasSuffix("1 letter replayed, 2 refused\n"))
    #expect(try post.records("events", 1).count == 1)
    #expect(try post.records("rouse.log").isEmpty)
  }

  @Test("a registration is replayed only if its device has sent no other since")
  func registrations() throws {
    let post = try Post()
    let refusedOnce = phone("d1", zone: "Mars/Base")
    for device in ["d1", "d2", "d3", "d4"] {
      try post.publish("rouse.devices", device, refusedOnce)
    }
    for (offset, device) in ["d1", "d2", "d3", "d4"].enumerated() {
      try post.post(device, refusedOnce, reason: "UNKNOWN_TIME_ZONE", topic: "rouse.devices", offset: offset)
    }
    try post.post("d5", refusedOnce, reason: "UNKNOWN_TIME_ZONE", topic: "rouse.devices", offset: 0)
    try post.publish("rouse.devices", "d2", phone("d2"))
    try post.publish("rouse.devices", "d3", nil)
    try post.publish("rouse.devices", "d4", refusedOnce)
    let outcome = try post.letters("replay", "--reason", "UNKNOWN_TIME_ZONE", "--skip-refused")
    #expect(outcome.status == 0)
    #expect(outcome.lines.map { $0.prefix { $0 != " " } } == ["rouse.dead-letters[0]@0", "rouse.dead-letters[0]@3"])
    #expect(
      outcome.err == """
        rouse.dead-letters[0]@1: refused: its device has sent rouse.devices[0]@4 since, which it would replace
        rouse.dead-letters[0]@2: refused: its device has sent rouse.devices[0]@5 since, which it would replace
        rouse.dead-letters[0]@4: refused: no record of its device is left from rouse.devices[0]@0 on: the device was \
        forgotten, or retention removed the record
        2 letters replayed, 3 refused

        """)
    let devices = try post.records("rouse.devices")
    #expect(devices.dropFirst(7).map { String(decoding: $0.key ?? [], as: UTF8.self) } == ["d1", "d4"])
    let named = try post.letters("replay", "rouse.dead-letters[0]@1")
    #expect(named.status == 1)
    #expect(try post.records("rouse.devices").count == 9)
  }

  @Test("a replay that the broker refuses leaves no receipt, so the same command can be given again")
  func failed() throws {
    let post = try Post()
    try post.post("k1", Self.event, reason: "NEW_RULE", topic: "events", partition: 1)
    post.broker.pushRequestErrors(.produce, [.topicAuthorizationFailed, .topicAuthorizationFailed])
    let failed = try post.letters("replay", "rouse.dead-letters[0]@0")
    #expect(failed.status == 1)
    #expect(failed.out == "")
    #expect(failed.err.hasPrefix("rouse: committing the transaction failed: "), "\(failed.err)")
    #expect(failed.err.hasSuffix("; no letter was replayed; repeat the command to continue; it replays none twice\n"))
    #expect(try post.records("events", 1).isEmpty)
    // The client may have given up after the first error, so the second may still be there.
    post.broker.clearRequestErrors(.produce)
    #expect(try post.letters("replay", "rouse.dead-letters[0]@0").out.contains("replayed to events"))
    #expect(try post.records("events", 1).count == 1)
  }
}
