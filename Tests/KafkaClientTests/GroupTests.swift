import KafkaClient
import Testing

@Suite("consumers and their groups")
struct GroupTests {
  private func fill(_ cluster: EmbeddedCluster, _ topic: String, partitions: Int32, each: Int) throws {
    let producer = try cluster.producer()
    for partition in 0..<partitions {
      for number in 0..<each {
        try producer.send(topic: topic, partition: partition, key: nil, value: [UInt8(truncatingIfNeeded: number)])
      }
    }
    #expect(try producer.flush(timeout: patience))
  }

  @Test(
    "two consumers share the partitions, and when one closes the other has them all",
    arguments: ["range", "cooperative-sticky"])
  func twoConsumers(assignor: String) throws {
    let cluster = try EmbeddedCluster(topics: ["t": 4])
    try fill(cluster, "t", partitions: 4, each: 3)
    let settings = Settings.consumer(cluster.broker.bootstrapServers)
      .merging(["partition.assignment.strategy": assignor])
    let (first, second) = (NotingListener(), NotingListener())
    let one = try KafkaConsumer(settings, rebalanceListener: first)
    let two = try KafkaConsumer(settings, rebalanceListener: second)
    // Both read at once. The test does not check which messages are read twice during the rebalance.
    try one.subscribe(["t"])
    try two.subscribe(["t"])
    #expect(
      try one.pollUntil { _ in
        _ = try two.poll(maxMessages: 100, timeout: .milliseconds(20))
        return first.held.count == 2 && second.held.count == 2
      })
    #expect(first.held.isDisjoint(with: second.held))
    #expect(try Set(one.assignment()) == first.held)

    #expect(one.close(timeout: patience))
    #expect(first.held.isEmpty)
    #expect(first.revocations > 0)
    #expect(try two.pollUntil { _ in second.held.count == 4 })
    #expect(second.losses == 0)
    #expect(two.close(timeout: patience))
    #expect(two.close())
    let error = failure { () throws(KafkaError) in _ = try one.poll(maxMessages: 1, timeout: .zero) }
    #expect(error?.code == .closed)
  }

  @Test(
    "reading begins at the listener's start offsets, not at the group's committed ones",
    arguments: ["range", "cooperative-sticky"])
  func startOffsets(assignor: String) throws {
    let cluster = try EmbeddedCluster(topics: ["t": 3])
    try fill(cluster, "t", partitions: 3, each: 10)
    let listener = NotingListener()
    listener.starts = [
      KafkaTopicPartition(topic: "t", partition: 0): .at(7), KafkaTopicPartition(topic: "t", partition: 1): .end,
      KafkaTopicPartition(topic: "other", partition: 0): .at(1),
    ]
    let consumer = try KafkaConsumer(
      Settings.consumer(cluster.broker.bootstrapServers).merging(["partition.assignment.strategy": assignor]),
      rebalanceListener: listener)
    try consumer.subscribe(["t"])
    let messages = try consumer.take(3 + 10)
    #expect(messages.filter { $0.partition == 0 }.map(\.offset) == [7, 8, 9])
    #expect(messages.filter { $0.partition == 1 }.isEmpty)
    #expect(messages.filter { $0.partition == 2 }.map(\.offset) == Array(0..<10))
  }

  @Test("a member that the group has expelled gets no metadata to commit with, even before its next poll")
  func expelled() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let listener = NotingListener()
    let consumer = try KafkaConsumer(
      Settings.consumer(cluster.broker.bootstrapServers)
        .merging(["partition.assignment.strategy": "cooperative-sticky"]), rebalanceListener: listener)
    try consumer.subscribe(["t"])
    #expect(try consumer.pollUntil { _ in listener.held.count == 1 })
    _ = try consumer.groupMetadata()
    cluster.broker.pushRequestErrors(.heartbeat, [.unknownMember])
    let end = ContinuousClock.now + patience
    var error: KafkaError?
    while error == nil, ContinuousClock.now < end {
      error = failure { () throws(KafkaError) in _ = try consumer.groupMetadata() }
    }
    #expect(error?.code == .unknownMember)
    #expect(error?.isAbortable == true)
    #expect(listener.losses == 0)
    #expect(consumer.close(timeout: patience))
  }

  @Test("a consumer that is closed while it joins does not end the process")
  func closedWhileJoining() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    func join(_ group: String, _ listener: NotingListener) throws -> KafkaConsumer {
      let consumer = try KafkaConsumer(
        Settings.consumer(cluster.broker.bootstrapServers)
          .merging(["partition.assignment.strategy": "cooperative-sticky", "group.id": group]),
        rebalanceListener: listener)
      try consumer.subscribe(["t"])
      return consumer
    }
    let (allowed, refused) = (NotingListener(), NotingListener())
    var polls = 0
    let first = try join("allowed", allowed)
    let hasJoined = try first.pollUntil { _ in
      polls += 1
      return allowed.wasCalled
    }
    try #require(hasJoined)
    first.close(timeout: patience)
    cluster.broker.pushRequestErrors(.syncGroup, Array(repeating: .coordinatorLoading, count: 1000))
    let consumer = try join("refused", refused)
    for _ in 0..<2 * polls { _ = try consumer.poll(maxMessages: 1, timeout: .milliseconds(50)) }
    #expect(!refused.wasCalled, "the broker has refused each attempt to join")
    consumer.close(timeout: .milliseconds(200))
  }

  @Test("a listener can commit in its revocation, and the group keeps it")
  func commitInRevocation() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    try fill(cluster, "t", partitions: 1, each: 5)
    let partition = KafkaTopicPartition(topic: "t", partition: 0)
    let listener = NotingListener()
    let consumer = try KafkaConsumer(
      Settings.consumer(cluster.broker.bootstrapServers), rebalanceListener: listener)
    var refusal: KafkaError?
    listener.onRevoked = { [unowned consumer] _ in
      refusal = failure { () throws(KafkaError) in
        try consumer.commit([KafkaPosition(partition, offset: 4)], timeout: patience)
      }
    }
    try consumer.subscribe(["t"])
    _ = try consumer.take(5)
    #expect(consumer.close(timeout: patience))
    #expect(refusal == nil)
    let next = try KafkaConsumer(Settings.consumer(cluster.broker.bootstrapServers))
    #expect(try next.committed([partition], timeout: patience) == [KafkaPosition(partition, offset: 4)])
  }

  @Test("paused partitions give no messages, resumed ones continue, and a seek moves the position")
  func pauseResumeSeek() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 2])
    try fill(cluster, "t", partitions: 2, each: 10)
    let partitions = (0..<2).map { KafkaTopicPartition(topic: "t", partition: $0) }
    let consumer = try KafkaConsumer(Settings.consumer(cluster.broker.bootstrapServers))
    try consumer.assign([partitions[0]: .beginning, partitions[1]: .at(5)])
    try consumer.pause([partitions[0]])
    #expect(try consumer.take(5).map(\.partition) == [1, 1, 1, 1, 1])
    #expect(try consumer.poll(maxMessages: 10, timeout: .milliseconds(100)).messages.isEmpty)
    try consumer.resume([partitions[0]])
    #expect(try consumer.take(10).map(\.offset) == Array(0..<10))
    #expect(try consumer.positions(partitions) == partitions.map { KafkaPosition($0, offset: 10) })
    try consumer.seek(partitions[1], to: .at(8))
    #expect(try consumer.take(2).map(\.offset) == [8, 9])
    #expect(try consumer.watermarks(of: partitions[0], timeout: patience) == KafkaWatermarks(low: 0, high: 10))
    #expect(try consumer.cachedWatermarks(of: partitions[0])?.high == 10)

    let stranger = KafkaTopicPartition(topic: "t", partition: 7)
    let error = failure { () throws(KafkaError) in try consumer.seek(stranger, to: .at(1)) }
    #expect(error?.operation == "seeking in t[7]")
  }

  @Test("the ends of partitions are told in one answer, and in time also when the broker is away")
  func ends() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 2])
    try fill(cluster, "t", partitions: 2, each: 10)
    let partitions = (0..<2).map { KafkaTopicPartition(topic: "t", partition: $0) }
    let consumer = try KafkaConsumer(Settings.consumer(cluster.broker.bootstrapServers))
    let ends = try consumer.ends(partitions, timeout: patience).sorted { $0.partition < $1.partition }
    #expect(ends == partitions.map { KafkaPosition($0, offset: 10) })
    try cluster.broker.setBrokerDown()
    let began = ContinuousClock.now
    let error = failure { () throws(KafkaError) in
      let ends = try consumer.ends(partitions, timeout: .seconds(1))
      #expect(ends.isEmpty)
    }
    #expect(error == nil || error?.isRetriable == true, "\(String(describing: error))")
    let other = failure { () throws(KafkaError) in
      _ = try consumer.watermarks(of: partitions[0], timeout: .seconds(1))
    }
    #expect(other?.isRetriable == true, "\(String(describing: other))")
    // Without a bound it would last until the broker is back: for ever.
    #expect(ContinuousClock.now - began < .seconds(60))
    try cluster.broker.setBrokerUp()
    while (try? consumer.ends(partitions, timeout: patience))?.count != 2 {}
  }

  @Test("partitions can be added to and taken from an assignment by hand")
  func incremental() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 2])
    try fill(cluster, "t", partitions: 2, each: 2)
    let partitions = (0..<2).map { KafkaTopicPartition(topic: "t", partition: $0) }
    let consumer = try KafkaConsumer(Settings.consumer(cluster.broker.bootstrapServers))
    try consumer.incrementalAssign([partitions[0]: .beginning])
    #expect(try consumer.take(2).map(\.partition) == [0, 0])
    try consumer.incrementalAssign([partitions[1]: .at(1)])
    #expect(try consumer.take(1).map(\.nextPosition) == [KafkaPosition(partitions[1], offset: 2)])
    try consumer.incrementalUnassign([partitions[0]])
    #expect(try consumer.assignment() == [partitions[1]])
  }

  @Test("a fetch that fails becomes an event or is retried, and reading continues")
  func failingFetch() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    try fill(cluster, "t", partitions: 1, each: 3)
    cluster.broker.pushRequestErrors(.fetch, [.notLeader, .transportFailed])
    #expect(try cluster.consumer(of: "t").take(3).count == 3)
  }

  @Test("a member that the group no longer knows learns that its partitions are lost")
  func lost() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let listener = NotingListener()
    let consumer = try KafkaConsumer(
      Settings.consumer(cluster.broker.bootstrapServers), rebalanceListener: listener)
    try consumer.subscribe(["t"])
    #expect(try consumer.pollUntil { _ in listener.held.count == 1 })
    cluster.broker.pushRequestErrors(.heartbeat, [.unknownMember])
    #expect(try consumer.pollUntil { _ in listener.losses == 1 })
    #expect(listener.revocations == 0)
  }

  @Test("closing takes no longer than its timeout if the broker is unreachable")
  func boundedClose() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let listener = NotingListener()
    let consumer = try KafkaConsumer(
      Settings.consumer(cluster.broker.bootstrapServers), rebalanceListener: listener)
    try consumer.subscribe(["t"])
    #expect(try consumer.pollUntil { _ in listener.held.count == 1 })
    try cluster.broker.setBrokerDown()
    let start = ContinuousClock.now
    consumer.close(timeout: .milliseconds(500))
    #expect(ContinuousClock.now - start < patience)
  }

  @Test("the embedded broker refuses to describe a group, and leaving works there as a static member, too")
  func groupsOfTheEmbeddedBroker() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let settings = Settings.consumer(cluster.broker.bootstrapServers)
      .merging(["partition.assignment.strategy": "cooperative-sticky", "group.instance.id": "one"])
    let (first, second) = (NotingListener(), NotingListener())
    let one = try KafkaConsumer(settings, rebalanceListener: first)
    try one.subscribe(["t"])
    #expect(try one.pollUntil { _ in first.held.count == 1 })
    let error = failure { () throws(KafkaError) in _ = try one.describeGroup(timeout: .seconds(2)) }
    #expect(error?.code == .unsupportedFeature && error?.isFatal == false)
    #expect(one.leave(timeout: patience))
    #expect(first.held.isEmpty)
    let two = try KafkaConsumer(settings, rebalanceListener: second)
    try two.subscribe(["t"])
    #expect(try two.pollUntil { _ in second.held.count == 1 })
    two.leave(timeout: patience)
  }
}
