import Domain
import KafkaClient
import Testing

@testable import Installation
@testable import Pipeline

/// The contract of `Cluster`: everything that the stages rely on, for each implementation. It shows that the simulated
/// cluster behaves as the real one.
///
/// The embedded broker does not isolate transactions, does not keep their offsets and does not fence producers. Tests of
/// these leave it out, and run on a real Kafka if `ROUSE_TEST_BOOTSTRAP` is set.
@Suite(.serialized) struct ClusterContractTests {
  typealias Kind = ContractGround.Kind

  @Test("records are read in order, with their key, headers and empty values", arguments: Kind.atHand)
  func order(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("order")
    let producer = try ground.producer()
    try producer.send(
      KafkaRecord(
        topic: topic, partition: 0, key: nil, value: [], headers: [KafkaHeader("h", "1"), KafkaHeader("h", nil)],
        timestampMilliseconds: 5))
    try producer.send(KafkaRecord(topic: topic, partition: 0, key: [], value: nil))
    let (key, value) = (Array("key".utf8), Array("value".utf8))
    try producer.send(topic: topic, partition: 0, key: key.span, value: value.span)
    try producer.send(topic: topic, partition: 0, removing: key.span)
    try producer.flushAll()
    let consumer = try ground.reader(of: topic)
    defer { consumer.close(timeout: .seconds(2)) }
    var messages: [KafkaMessage] = []
    #expect(
      try ground.poll(consumer) { batch in
        messages += batch.messages
        return messages.count == 4
      })
    #expect(messages.map(\.key) == [nil, [], key, key])
    #expect(messages.map(\.value) == [[], nil, value, nil])
    #expect(messages.first?.headers == [KafkaHeader("h", "1"), KafkaHeader("h", nil)])
    #expect(messages.first?.timestampMilliseconds == 5)
    #expect(messages.map(\.offset) == [0, 1, 2, 3])
    #expect(producer.counts.inFlight == 0 && producer.takeDeliveryFailures().isEmpty)
  }

  @Test(
    "records queued at once are read in order, and null differs from empty", arguments: Kind.atHand)
  func batches(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("batches")
    let producer = try ground.producer()
    let bytes = Array("key0value1".utf8)
    try producer.send(
      topic: topic, partition: 0,
      records: [
        KafkaRecordPlace(key: 0..<4, value: 4..<10), KafkaRecordPlace(key: 0..<3, value: nil),
        KafkaRecordPlace(key: 10..<10, value: 3..<3),
      ], in: bytes.span)
    // More records than go to librdkafka in one call, without a partition.
    try producer.send(
      topic: topic, partition: nil, records: (0..<3000).map { KafkaRecordPlace(key: 0..<1 + $0 % 10, value: 0..<1) },
      in: bytes.span)
    try producer.flushAll()
    let consumer = try ground.reader(of: topic)
    defer { consumer.close(timeout: .seconds(2)) }
    var messages: [KafkaMessage] = []
    #expect(
      try ground.poll(consumer) { batch in
        messages += batch.messages
        return messages.count == 3003
      })
    #expect(messages.prefix(3).map(\.key) == [Array("key0".utf8), Array("key".utf8), []])
    #expect(messages.prefix(3).map(\.value) == [Array("value1".utf8), nil, []])
    #expect(messages.dropFirst(3).map { $0.key?.count } == (0..<3000).map { 1 + $0 % 10 })
    #expect(producer.counts.inFlight == 0 && producer.takeDeliveryFailures().isEmpty)
  }

  @Test("a record without a key keeps its partition, its value and its headers", arguments: Kind.atHand)
  func withoutKey(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("keyless", partitions: 2)
    let producer = try ground.producer()
    for value in [Array("a\nb".utf8), []] as [[UInt8]] {
      try producer.send(topic: topic, partition: 1, value: value.span, headers: [KafkaHeader("count", "2")])
    }
    try producer.flushAll()
    let consumer = try ground.consumer()
    defer { consumer.close(timeout: .seconds(2)) }
    try consumer.incrementalAssign([KafkaTopicPartition(topic: topic, partition: 1): .beginning])
    var messages: [KafkaMessage] = []
    #expect(
      try ground.poll(consumer) { batch in
        messages += batch.messages
        return messages.count == 2
      })
    #expect(messages.map(\.key) == [nil, nil] && messages.map(\.value) == [Array("a\nb".utf8), []])
    #expect(messages.allSatisfy { $0.headers == [KafkaHeader("count", "2")] })
  }

  @Test("a record without a partition goes to the partition of its key's murmur2 hash", arguments: Kind.atHand)
  func partitioning(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("partitioning", partitions: 4)
    let producer = try ground.producer(["partitioner": "murmur2_random"])
    let devices = (0..<12).map { "device-\($0)" as Identifier }
    for device in devices {
      let key = Array(device.utf8)
      try producer.send(topic: topic, partition: nil, key: key.span, value: key.span)
    }
    try producer.flushAll()
    let consumer = try ground.consumer()
    defer { consumer.close(timeout: .seconds(2)) }
    try consumer.incrementalAssign(
      Dictionary(
        uniqueKeysWithValues: (0..<4).map { (KafkaTopicPartition(topic: topic, partition: $0), .beginning) }))
    var found: [Identifier: Int32] = [:]
    #expect(
      try ground.poll(consumer) { batch in
        for message in batch.messages {
          found[Identifier(decoding: message.key ?? [])] = message.partition
        }
        return found.count == devices.count
      })
    for device in devices { #expect(found[device] == DevicePartitioner.partition(of: device, count: 4)) }
    #expect(try ground.cluster.partitionCounts(of: [topic], ["bootstrap.servers": ground.servers]) == [4])
  }

  @Test("the end of a partition is reported when it is reached, and again after more records", arguments: Kind.atHand)
  func ends(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("ends")
    let producer = try ground.producer()
    try producer.send(topic, "a")
    try producer.flushAll()
    let consumer = try ground.reader(of: topic)
    defer { consumer.close(timeout: .seconds(2)) }
    for end in [Int64(1), 2] {
      var told: [Int64] = []
      #expect(
        try ground.poll(consumer) { batch in
          for case .partitionEnd(let position) in batch.events { told.append(position.offset) }
          return !told.isEmpty
        })
      #expect(told == [end])
      try producer.send(topic, "b")
      try producer.flushAll()
    }
  }

  @Test(
    "a paused partition delivers nothing, a resumed one continues, and a seek moves to its offset",
    arguments: Kind.atHand)
  func pausing(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("pausing")
    let partition = KafkaTopicPartition(topic: topic, partition: 0)
    let producer = try ground.producer()
    for value in ["a", "b", "c"] { try producer.send(topic, value) }
    try producer.flushAll()
    let consumer = try ground.reader(of: topic)
    defer { consumer.close(timeout: .seconds(2)) }
    var seen: [Int64] = []
    func read(_ count: Int) throws -> Bool {
      try ground.poll(consumer, max: 1) { batch in
        seen += batch.messages.map(\.offset)
        return seen.count >= count
      }
    }
    #expect(try read(1))
    try consumer.pause([partition])
    for _ in 0..<5 { #expect(try consumer.poll(maxMessages: 10, timeout: .milliseconds(20)).messages.isEmpty) }
    try consumer.resume([partition])
    #expect(try read(3))
    #expect(seen == [0, 1, 2])
    try consumer.seek(partition, to: .at(1))
    #expect(try read(5))
    #expect(seen == [0, 1, 2, 1, 2])
    #expect(try consumer.assignment() == [partition])
    try consumer.incrementalUnassign([partition])
    #expect(try consumer.assignment().isEmpty)
    #expect(try consumer.poll(maxMessages: 10, timeout: .milliseconds(20)).messages.isEmpty)
    #expect(throws: KafkaError.self) { try consumer.seek(partition, to: .at(0)) }
  }

  @Test("watermarks are the ends of a partition", arguments: Kind.atHand)
  func watermarks(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("watermarks")
    let producer = try ground.producer()
    for value in ["a", "b"] { try producer.send(topic, value) }
    try producer.flushAll()
    let consumer = try ground.consumer()
    defer { consumer.close(timeout: .seconds(2)) }
    let partition = KafkaTopicPartition(topic: topic, partition: 0)
    let found = try retrying(clock: ground.clock) { () throws(KafkaError) in
      try consumer.watermarks(of: partition, timeout: .seconds(5))
    }
    #expect(found == KafkaWatermarks(low: 0, high: 2))
  }

  @Test("committed records can be read, and the producer works again after an abort", arguments: Kind.atHand)
  func committing(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("committing")
    let producer = try ground.transactional("committing")
    try producer.beginTransaction()
    try producer.send(topic, "a")
    try producer.commitTransaction(timeout: .seconds(10))
    try producer.beginTransaction()
    try producer.abortTransaction(timeout: .seconds(10))
    try producer.beginTransaction()
    try producer.send(topic, "b")
    try producer.commitTransaction(timeout: .seconds(10))
    #expect(try ground.values(topic) == ["a", "b"])
  }

  @Test(
    "readers of committed records see neither open nor aborted ones, and their end lies before open ones",
    arguments: Kind.isolating)
  func isolation(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("isolation")
    let partition = KafkaTopicPartition(topic: topic, partition: 0)
    let producer = try ground.transactional("isolation")
    try producer.beginTransaction()
    try producer.send(topic, "aborted")
    try producer.flushAll()
    try producer.abortTransaction(timeout: .seconds(10))
    try producer.beginTransaction()
    try producer.send(topic, "open")
    try producer.flushAll()
    let plain = try ground.producer()
    try plain.send(topic, "behind")
    try plain.flushAll()
    #expect(try ground.values(topic) == [])
    #expect(try ground.values(topic, ["isolation.level": "read_uncommitted"]) == ["aborted", "open", "behind"])
    let (committed, all) = (try ground.consumer(), try ground.consumer(["isolation.level": "read_uncommitted"]))
    // The marker of the abort takes an offset.
    #expect(try committed.watermarks(of: partition, timeout: .seconds(5)).high == 2)
    #expect(try all.watermarks(of: partition, timeout: .seconds(5)).high == 4)
    committed.close(timeout: .seconds(2))
    all.close(timeout: .seconds(2))
    try producer.commitTransaction(timeout: .seconds(10))
    #expect(try ground.values(topic) == ["open", "behind"])
  }

  @Test("a producer whose id was taken over can commit nothing", arguments: Kind.isolating)
  func fencing(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("fencing")
    let old = try ground.transactional("fencing")
    try old.beginTransaction()
    try old.send(topic, "old")
    try old.flushAll()
    let new = try ground.transactional("fencing")
    let refusal = #expect(throws: KafkaError.self) { try old.commitTransaction(timeout: .seconds(10)) }
    #expect(refusal?.isFatal == true)
    try new.beginTransaction()
    try new.send(topic, "new")
    try new.commitTransaction(timeout: .seconds(10))
    #expect(try ground.values(topic) == ["new"])
  }

  @Test(
    "a group's offsets in a transaction are unstable until it ends, and are kept when it commits",
    arguments: Kind.isolating)
  func offsets(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("offsets")
    let partition = KafkaTopicPartition(topic: topic, partition: 0)
    let listener = Listening()
    let member = try ground.consumer(listener: listener)
    try member.subscribe([topic])
    #expect(try ground.poll(member) { _ in listener.owned == [partition] })
    let producer = try ground.transactional("offsets")
    for (offset, commits) in [(Int64(3), true), (7, false)] {
      try producer.beginTransaction()
      try producer.sendOffsetsToTransaction(
        [KafkaPosition(partition, offset: offset)], group: member.membership(), timeout: .seconds(10))
      let unstable = #expect(throws: KafkaError.self) {
        try member.committed([partition], timeout: .milliseconds(500))
      }
      #expect(unstable?.isRetriable == true)
      if commits {
        try producer.commitTransaction(timeout: .seconds(10))
      } else {
        try producer.abortTransaction(timeout: .seconds(10))
      }
      let found = try retrying(clock: ground.clock) { () throws(KafkaError) in
        try member.committed([partition], timeout: .seconds(5))
      }
      #expect(found == [KafkaPosition(partition, offset: 3)])
    }
    // A generation that is over is refused, and the transaction must be aborted.
    let late = try member.membership()
    member.close(timeout: .seconds(5))
    #expect(listener.owned.isEmpty && listener.lostCount == 0)
    let next = try ground.consumer(listener: listener)
    try next.subscribe([topic])
    #expect(try ground.poll(next) { _ in listener.owned == [partition] })
    try producer.beginTransaction()
    let refusal = #expect(throws: KafkaError.self) {
      try producer.sendOffsetsToTransaction(
        [KafkaPosition(partition, offset: 9)], group: late, timeout: .seconds(10))
    }
    #expect(refusal?.isAbortable == true && refusal?.isFatal == false)
    try producer.abortTransaction(timeout: .seconds(10))
    next.close(timeout: .seconds(5))
  }

  @Test(
    "members share partitions and take over from one that leaves", arguments: Kind.atHand)
  func groups(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("groups", partitions: 2)
    let (first, second) = (Listening(), Listening())
    let one = try ground.consumer(listener: first)
    let two = try ground.consumer(listener: second)
    try one.subscribe([topic])
    #expect(try ground.poll(one) { _ in first.owned.count == 2 })
    try two.subscribe([topic])
    #expect(try ground.poll(one, two) { _ in first.owned.count == 1 && second.owned.count == 1 })
    #expect(first.owned.isDisjoint(with: second.owned))
    _ = try two.membership()
    one.close(timeout: .seconds(5))
    #expect(first.owned.isEmpty && first.lostCount == 0)
    #expect(try ground.poll(two) { _ in second.owned.count == 2 })
    two.close(timeout: .seconds(5))
    #expect(throws: KafkaError.self) { try two.poll(maxMessages: 1, timeout: .zero) }
  }
}

extension ClusterContractTests {
  @Test("under an eager assignor a member releases all partitions before another one gets some", arguments: Kind.atHand)
  func eager(kind: Kind) throws {
    let ground = try ContractGround(kind)
    let topic = try ground.topic("eager", partitions: 2)
    let (first, second) = (Listening(), Listening())
    let eager: KafkaConfiguration = ["partition.assignment.strategy": "range"]
    let one = try ground.consumer(eager, listener: first)
    let two = try ground.consumer(eager, listener: second)
    try one.subscribe([topic])
    #expect(try ground.poll(one) { _ in first.owned.count == 2 })
    try two.subscribe([topic])
    #expect(try ground.poll(one, two) { _ in first.owned.count == 1 && second.owned.count == 1 })
    #expect(first.owned.isDisjoint(with: second.owned))
    #expect(first.revokedMost == 2 && first.lostCount == 0)
    one.close(timeout: .seconds(5))
    two.close(timeout: .seconds(5))
  }
}
