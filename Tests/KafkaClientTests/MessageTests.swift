import KafkaClient
import Testing

@Suite("messages")
struct MessageTests {
  @Test("the position behind a message is the next offset, and the largest offset is its own next position")
  func nextPosition() {
    for (offset, next) in [(0, 1), (41, 42), (Int64.max - 1, Int64.max), (.max, .max)] as [(Int64, Int64)] {
      #expect(KafkaMessage(topic: "t", partition: 0, offset: offset, value: nil).nextPosition.offset == next)
    }
  }

  @Test("a message comes back as it was sent: key, value, headers and timestamp, and null differs from empty")
  func roundTrip() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try cluster.producer()
    let headers = [
      KafkaHeader("a", "1"), KafkaHeader("b", nil), KafkaHeader("a", [0, 255]), KafkaHeader("empty", [UInt8]()),
    ]
    let time: Int64 = 1_700_000_000_123
    try producer.send(topic: "t", key: bytes("k"), value: bytes("v"), headers: headers, timestampMilliseconds: time)
    try producer.send(topic: "t", key: nil, value: nil, timestampMilliseconds: time + 1)
    try producer.send(topic: "t", key: [], value: [], timestampMilliseconds: time + 2)
    #expect(try producer.flush(timeout: patience))

    let messages = try cluster.consumer(of: "t").take(3)
    #expect(
      messages == [
        KafkaMessage(
          topic: "t", partition: 0, offset: 0, timestampMilliseconds: time, key: bytes("k"), value: bytes("v"),
          headers: headers),
        KafkaMessage(
          topic: "t", partition: 0, offset: 1, timestampMilliseconds: time + 1, key: nil, value: nil),
        KafkaMessage(topic: "t", partition: 0, offset: 2, timestampMilliseconds: time + 2, key: [], value: []),
      ])
  }

  @Test("messages are lent without copying, and their bytes are the same")
  func lending() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try cluster.producer()
    for number in 0..<10 { try producer.send(topic: "t", key: nil, value: [UInt8(number), 7].span) }
    #expect(try producer.flush(timeout: patience))

    let consumer = try cluster.consumer(of: "t")
    var seen: [UInt8] = []
    while seen.count < 10 {
      try consumer.forEachMessage(maxMessages: 4, timeout: patience) { message in
        message.withValue { value in
          if let value { seen.append(value[0]) }
        }
        #expect(message.topic == "t")
      }
    }
    #expect(seen == Array(0..<10))
  }

  @Test("a body that throws ends the loop, and the rest comes with the next poll")
  func throwingBody() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try cluster.producer()
    for number: UInt8 in 0..<5 { try producer.send(topic: "t", key: nil, value: [number]) }
    #expect(try producer.flush(timeout: patience))
    let consumer = try cluster.consumer(of: "t")
    let refusal = KafkaError(code: .wrongState, message: "enough", operation: "reading")
    var seen: [Int64] = []
    let error = failure { () throws(KafkaError) in
      while true {
        try consumer.forEachMessage(maxMessages: 100, timeout: patience) { message throws(KafkaError) in
          seen.append(message.offset)
          if message.offset == 2 { throw refusal }
        }
      }
    }
    #expect(error == refusal)
    #expect(seen == [0, 1, 2])
    #expect(try consumer.take(2).map(\.offset) == [3, 4])
  }

  @Test("a message goes to the partition that was named")
  func explicitPartition() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 4])
    let producer = try cluster.producer()
    for partition: Int32 in [3, 1] { try producer.send(topic: "t", partition: partition, key: nil, value: [1]) }
    #expect(try producer.flush(timeout: patience))
    #expect(producer.counts == KafkaDeliveryCounts(sent: 2, delivered: 2, failed: 0, purged: 0))
    let admin = try KafkaConsumer(Settings.consumer(cluster.broker.bootstrapServers, group: "ends"))
    let ends = try (0..<4).map {
      try admin.watermarks(of: KafkaTopicPartition(topic: "t", partition: $0), timeout: patience).high
    }
    #expect(ends == [0, 1, 0, 1])
  }

  @Test("a message to a partition that does not exist fails and is reported as a failure")
  func unknownPartition() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try cluster.producer()
    let thrown = failure { () throws(KafkaError) in
      try producer.send(topic: "t", partition: 9, key: nil, value: [1], tag: 5)
    }
    _ = try producer.flush(timeout: patience)
    let failures = producer.takeDeliveryFailures()
    #expect(thrown?.code == .unknownPartition || failures.map(\.error.code) == [.unknownPartition])
    #expect(thrown != nil || failures.map(\.tag) == [5])
    #expect(producer.takeDeliveryFailures().isEmpty)
  }

  @Test("the end of a partition is an event if the consumer asks for it")
  func partitionEnd() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try cluster.producer()
    try producer.send(topic: "t", key: nil, value: [1])
    #expect(try producer.flush(timeout: patience))
    let consumer = try cluster.consumer(of: "t", ["enable.partition.eof": "true"])
    let end = KafkaEvent.partitionEnd(KafkaPosition(KafkaTopicPartition(topic: "t", partition: 0), offset: 1))
    #expect(try consumer.pollUntil { $0.events.contains(end) })
  }

  @Test("a message that is larger than the client takes fails at once, and the error names the topic")
  func tooLarge() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try cluster.producer(["message.max.bytes": "2000"])
    let error = failure { () throws(KafkaError) in
      try producer.send(topic: "t", key: nil, value: [UInt8](repeating: 1, count: 3000))
    }
    #expect(error?.code == .messageTooLarge)
    #expect(error?.operation == "producing to t")
    #expect(error?.isRetriable == false)
  }

  @Test("a queue that stays full is a retriable error, after waiting for room as long as was allowed")
  func queueFull() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    try cluster.broker.setBrokerDown()
    let producer = try KafkaProducer(
      Settings.producer(cluster.broker.bootstrapServers).merging(["queue.buffering.max.messages": "10"]),
      queueFullTimeout: .milliseconds(60))
    for _ in 0..<10 { try producer.send(topic: "t", key: nil, value: [1]) }
    let start = ContinuousClock.now
    let error = failure { () throws(KafkaError) in try producer.send(topic: "t", key: nil, value: [1]) }
    #expect(ContinuousClock.now - start >= .milliseconds(60))
    #expect(error?.code == .queueFull)
    #expect(error?.isRetriable == true)
    #expect(producer.counts.inFlight == 10)

    try cluster.broker.setBrokerUp()
    #expect(try producer.flush(timeout: patience))
    try producer.send(topic: "t", key: nil, value: [1])
    #expect(try producer.flush(timeout: patience))
    #expect(producer.counts == KafkaDeliveryCounts(sent: 11, delivered: 11, failed: 0, purged: 0))
  }

  @Test("a slow broker holds the producer back without losing anything")
  func backPressure() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try cluster.producer(["queue.buffering.max.messages": "50"])
    for _ in 0..<500 { try producer.send(topic: "t", key: nil, value: [1]) }
    #expect(try producer.flush(timeout: patience))
    #expect(producer.counts.delivered == 500)
  }

  @Test("records queued at once wait for room too, and go out in order", arguments: [Int32?.none, 0])
  func batchBackPressure(partition: Int32?) throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try cluster.producer(["queue.buffering.max.messages": "50"])
    let bytes = (0..<500).flatMap { [UInt8($0 / 256), UInt8($0 % 256)] }
    let records = (0..<500).map { KafkaRecordPlace(key: 0..<1, value: 2 * $0..<2 * $0 + 2) }
    try producer.send(topic: "t", partition: partition, records: records, in: bytes.span)
    #expect(try producer.flush(timeout: patience))
    #expect(producer.counts == KafkaDeliveryCounts(sent: 500, delivered: 500, failed: 0, purged: 0))
    #expect(try cluster.consumer(of: "t").take(500).flatMap { $0.value ?? [] } == bytes)
  }

  @Test("of records queued at once, one that is too large is an error by the topic's name")
  func tooLargeInBatch() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try cluster.producer(["message.max.bytes": "2000"])
    let bytes = [UInt8](repeating: 1, count: 3000)
    let error = failure { () throws(KafkaError) in
      try producer.send(
        topic: "t", partition: 0,
        records: [KafkaRecordPlace(key: 0..<1, value: 0..<5), KafkaRecordPlace(key: 0..<1, value: 0..<3000)],
        in: bytes.span)
    }
    #expect(error?.code == .messageTooLarge)
    #expect(error?.operation == "producing to t[0]")
    #expect(error?.isRetriable == false)
    #expect(producer.counts.sent == 1)
  }

  @Test("with reports of failures only, deliveries are not counted and purged messages are")
  func reportsOfFailuresOnly() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try cluster.producer(["delivery.report.only.error": "true"])
    try producer.send(topic: "t", key: nil, value: [1])
    #expect(try producer.flush(timeout: patience))
    #expect(producer.counts == KafkaDeliveryCounts(sent: 1, delivered: 0, failed: 0, purged: 0))
    try cluster.broker.setBrokerDown()
    try producer.send(topic: "t", key: nil, value: [1])
    producer.purge()
    _ = try producer.flush(timeout: patience)
    #expect(producer.counts.purged == 1)
  }

  @Test("purged messages are counted separately and are no failures")
  func purge() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    try cluster.broker.setBrokerDown()
    let producer = try cluster.producer()
    try producer.send(topic: "t", key: nil, value: [1])
    producer.purge()
    _ = try producer.flush(timeout: patience)
    #expect(producer.counts == KafkaDeliveryCounts(sent: 1, delivered: 0, failed: 0, purged: 1))
    #expect(producer.takeDeliveryFailures().isEmpty)
  }
}
