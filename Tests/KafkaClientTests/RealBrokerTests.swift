import Foundation
import KafkaClient
import Testing

/// The address of a real Apache Kafka, for tests that the embedded broker cannot run; given as `ROUSE_TEST_BOOTSTRAP`.
private let bootstrap = ProcessInfo.processInfo.environment["ROUSE_TEST_BOOTSTRAP"].flatMap { $0.isEmpty ? nil : $0 }

@Suite(
  "a real broker",
  .enabled(
    if: bootstrap != nil,
    "give the address of an Apache Kafka as ROUSE_TEST_BOOTSTRAP to see isolation, fencing and topic configuration"
  ))
struct RealBrokerTests {
  private let servers: String
  /// New in every run, so that runs do not see each other.
  private let topic = "kafka-client-test-\(UInt64.random(in: 0...UInt64.max))"
  private var partition: KafkaTopicPartition { KafkaTopicPartition(topic: topic, partition: 0) }

  init() throws {
    servers = try #require(bootstrap)
  }

  private func makeTopic(_ configuration: [String: String] = [:], partitions: Int = 1) throws -> KafkaAdmin {
    let admin = try KafkaAdmin(["bootstrap.servers": servers])
    let new = KafkaNewTopic(name: topic, partitions: partitions, replicas: 1, configuration: configuration)
    let results = try admin.createTopics([new], timeout: patience)
    #expect(results.map(\.name) == [topic])
    #expect(results[0].error == nil)
    return admin
  }

  private func transactional(_ id: String) throws -> KafkaProducer {
    let producer = try KafkaProducer(
      Settings.producer(servers).merging(["transactional.id": id, "transaction.timeout.ms": "30000"]))
    try producer.initTransactions(timeout: patience)
    return producer
  }

  @Test("a topic is made as asked, described as made, and refused when it exists")
  func topics() throws {
    let admin = try makeTopic(["cleanup.policy": "compact", "max.message.bytes": "54321"], partitions: 3)
    let again = try admin.createTopics([KafkaNewTopic(name: topic, partitions: 1)], timeout: patience)
    #expect(again.map(\.error?.code) == [.topicExists])
    #expect(again[0].error?.operation == "creating the topic \(topic)")
    #expect(try admin.describeTopics([topic], timeout: patience)[0].partitions.map(\.id) == [0, 1, 2])
    let configuration = try admin.describeTopicConfiguration(topic, timeout: patience)
    #expect(configuration["cleanup.policy"] == "compact")
    #expect(configuration["max.message.bytes"] == "54321")
    #expect(configuration["min.insync.replicas"] != nil)
    let error = failure { () throws(KafkaError) in
      _ = try admin.describeTopicConfiguration("\(topic)-not", timeout: patience)
    }
    #expect(error?.code == .unknownTopicOrPartition)
    let bad = KafkaNewTopic(name: "\(topic)-bad", partitions: 1, configuration: ["cleanup.policy": "burn"])
    #expect(try admin.createTopics([bad], timeout: patience)[0].error?.isRetriable == false)
  }

  /// Left out on the embedded broker, whose rebalances last a whole session.
  @Test("a member without a partition that closes leaves the group at once, so that the next one gets its partitions")
  func idleMember() throws {
    _ = try makeTopic()
    // The test would wait in vain for a session this long.
    let settings = Settings.consumer(servers, group: topic)
      .merging(["partition.assignment.strategy": "cooperative-sticky", "session.timeout.ms": "290000"])
    let (first, second, third) = (NotingListener(), NotingListener(), NotingListener())
    let one = try KafkaConsumer(settings, rebalanceListener: first)
    let two = try KafkaConsumer(settings, rebalanceListener: second)
    try one.subscribe([topic])
    try two.subscribe([topic])
    try wait(one, two) { first.wasCalled && second.wasCalled && first.held.count + second.held.count == 1 }
    #expect(one.close(timeout: patience))
    #expect(two.close(timeout: patience))

    let next = try KafkaConsumer(settings, rebalanceListener: third)
    try next.subscribe([topic])
    #expect(try next.pollUntil { _ in third.held.count == 1 })
    next.close(timeout: patience)
  }

  /// A consumer of the test's group, as a static member.
  private func member(_ instance: String, _ listener: NotingListener) throws -> KafkaConsumer {
    let consumer = try KafkaConsumer(
      Settings.consumer(servers, group: topic)
        .merging(["partition.assignment.strategy": "cooperative-sticky", "group.instance.id": instance]),
      rebalanceListener: listener)
    try consumer.subscribe([topic])
    return consumer
  }

  /// Two static members of the test's group, `one` and `two`, each with one of the two partitions of the test's topic.
  private func members(
    _ first: NotingListener, _ second: NotingListener
  ) throws -> (one: KafkaConsumer, two: KafkaConsumer) {
    _ = try makeTopic(partitions: 2)
    let (one, two) = (try member("one", first), try member("two", second))
    try wait(one, two) { first.held.count == 1 && second.held.count == 1 }
    return (one, two)
  }

  /// Polls two members until a condition holds.
  private func wait(_ one: KafkaConsumer, _ two: KafkaConsumer, until holds: () -> Bool) throws {
    #expect(
      try one.pollUntil { _ in
        _ = try two.poll(maxMessages: 100, timeout: .milliseconds(20))
        return holds()
      })
  }

  /// Waits until the coordinator has given a member this number of partitions.
  private func wait(for count: Int, of instance: String, asking consumer: KafkaConsumer) throws -> Bool {
    let end = ContinuousClock.now + patience
    while ContinuousClock.now < end {
      let group = try consumer.describeGroup(timeout: patience)
      let member = group.members.first { $0.instance == instance }
      if group.isStable, member?.partitions.count == count { return true }
    }
    return false
  }

  @Test("a consumer that closes with an assignment it was not told of yet is told that all its partitions are gone")
  func closedInRebalance() throws {
    let (first, second) = (NotingListener(), NotingListener())
    let (one, two) = try members(first, second)
    // The group gives the partition of the one that leaves to the other, which does not poll any more.
    #expect(two.leave(timeout: patience))
    #expect(second.held.isEmpty)
    #expect(try wait(for: 2, of: "one", asking: one))
    #expect(one.close(timeout: patience))
    #expect(first.held.isEmpty)
  }

  @Test("a static member that leaves is out of its group at once; one that closes stays in it")
  func leavingStaticMember() throws {
    let (first, second) = (NotingListener(), NotingListener())
    let (one, two) = try members(first, second)
    #expect(try wait(for: 1, of: "two", asking: one))
    #expect(two.leave(timeout: patience))
    #expect(second.held.isEmpty && second.losses == 0)
    #expect(try one.describeGroup(timeout: patience).members.map(\.instance) == ["one"])
    #expect(try one.pollUntil { _ in first.held.count == 2 })
    #expect(one.close(timeout: patience))
    let asking = try KafkaConsumer(Settings.consumer(servers, group: topic))
    #expect(try asking.describeGroup(timeout: patience).members.map(\.instance) == ["one"])
  }

  @Test("a static member whose instance another one takes fails for good, and its error says so")
  func fencedInstance() throws {
    _ = try makeTopic()
    let (first, second) = (NotingListener(), NotingListener())
    let one = try member("one", first)
    #expect(try one.pollUntil { _ in first.held.count == 1 })
    let again = try member("one", second)
    #expect(try again.pollUntil { _ in second.held.count == 1 })
    let error = failure { () throws(KafkaError) in
      let end = ContinuousClock.now + patience
      while ContinuousClock.now < end { _ = try one.poll(maxMessages: 100, timeout: .milliseconds(50)) }
    }
    #expect(error?.code == .fencedInstance && error?.isFatal == true)
    one.close(timeout: .seconds(2))
    again.close(timeout: patience)
  }

  @Test("a message comes back as it was sent")
  func roundTrip() throws {
    _ = try makeTopic()
    let producer = try KafkaProducer(Settings.producer(servers))
    let headers = [KafkaHeader("a", "1"), KafkaHeader("b", nil), KafkaHeader("a", [UInt8]())]
    let time = Int64(Date().timeIntervalSince1970 * 1000)
    try producer.send(topic: topic, key: bytes("k"), value: nil, headers: headers, timestampMilliseconds: time)
    #expect(try producer.flush(timeout: patience))
    let consumer = try KafkaConsumer(Settings.consumer(servers, group: topic))
    try consumer.assign([partition: .beginning])
    #expect(
      try consumer.take(1) == [
        KafkaMessage(
          topic: topic, partition: 0, offset: 0, timestampMilliseconds: time, key: bytes("k"), value: nil,
          headers: headers)
      ])
    #expect(try consumer.watermarks(of: partition, timeout: patience) == KafkaWatermarks(low: 0, high: 1))
  }

  @Test("a reader of committed messages sees neither what was aborted nor what is open, and offsets go with the commit")
  func isolation() throws {
    _ = try makeTopic()
    let group = try KafkaConsumer(Settings.consumer(servers, group: topic))
    try group.assign([partition: .beginning])
    let producer = try transactional(topic)
    for (number, ending) in ["commit", "abort", "commit", "open"].enumerated() {
      try producer.beginTransaction()
      try producer.send(topic: topic, key: nil, value: [UInt8(number)])
      #expect(try producer.flush(timeout: patience))
      try producer.sendOffsetsToTransaction(
        [KafkaPosition(partition, offset: Int64(10 + number))], group: group.groupMetadata(), timeout: patience)
      if ending == "commit" { try producer.commitTransaction(timeout: patience) }
      if ending == "abort" { try producer.abortTransaction(timeout: patience) }
    }
    func read(_ isolation: String, until end: Int64) throws -> [UInt8] {
      let consumer = try KafkaConsumer(
        Settings.consumer(servers, group: topic)
          .merging(["isolation.level": isolation, "enable.partition.eof": "true"]))
      try consumer.assign([partition: .beginning])
      var seen: [UInt8] = []
      let ended = try consumer.pollUntil { batch in
        seen += batch.messages.compactMap { $0.value?.first }
        return batch.events.contains { event in
          if case .partitionEnd(let position) = event { return position.offset == end }
          return false
        }
      }
      #expect(ended)
      return seen
    }
    // Each transaction that ended left a marker behind its message.
    #expect(try read("read_committed", until: 6) == [0, 2])
    #expect(try read("read_uncommitted", until: 7) == [0, 1, 2, 3])
    try producer.abortTransaction(timeout: patience)
    #expect(try group.committed([partition], timeout: patience) == [KafkaPosition(partition, offset: 12)])
  }

  @Test("a producer whose transactional id was taken over is fenced off")
  func fencing() throws {
    _ = try makeTopic()
    let old = try transactional(topic)
    try old.beginTransaction()
    try old.send(topic: topic, key: nil, value: [1])
    #expect(try old.flush(timeout: patience))
    let new = try transactional(topic)
    let error = failure { () throws(KafkaError) in try old.commitTransaction(timeout: patience) }
    #expect(error?.isFatal == true)
    try new.beginTransaction()
    try new.send(topic: topic, key: nil, value: [2])
    try new.commitTransaction(timeout: patience)
  }
}
