import KafkaClient
import Testing

@Suite("transactions")
struct TransactionTests {
  private func transactional(_ cluster: EmbeddedCluster) throws -> KafkaProducer {
    let producer = try cluster.producer(["transactional.id": "me"])
    try producer.initTransactions(timeout: patience)
    return producer
  }

  @Test("transactions are begun, committed with a group's offsets, and aborted")
  func happyPath() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let consumer = try cluster.consumer(of: "t")
    let producer = try transactional(cluster)
    try producer.beginTransaction()
    try producer.send(topic: "t", key: nil, value: [1])
    try producer.sendOffsetsToTransaction(
      [KafkaPosition(KafkaTopicPartition(topic: "t", partition: 0), offset: 1)], group: consumer.groupMetadata(),
      timeout: patience)
    try producer.commitTransaction(timeout: patience)
    #expect(producer.counts == KafkaDeliveryCounts(sent: 1, delivered: 1, failed: 0, purged: 0))

    try producer.beginTransaction()
    try producer.send(topic: "t", key: nil, value: [2])
    try producer.abortTransaction(timeout: patience)
    #expect(producer.counts.inFlight == 0)
    #expect(producer.takeDeliveryFailures().isEmpty)

    try producer.beginTransaction()
    try producer.commitTransaction(timeout: patience)
  }

  @Test("committing without a transaction is a wrong state, and needs neither a repetition nor an abort")
  func wrongState() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try transactional(cluster)
    let error = failure { () throws(KafkaError) in try producer.commitTransaction(timeout: patience) }
    #expect(error?.code == .wrongState)
    #expect(error.map { [$0.isFatal, $0.isRetriable, $0.isAbortable] } == [false, false, false])
    #expect(error?.description.hasPrefix("committing the transaction failed: ") == true)
  }

  @Test("a fenced producer gets a fatal error")
  func fenced() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try transactional(cluster)
    cluster.broker.pushRequestErrors(.addPartitionsToTransaction, [.producerFenced])
    try producer.beginTransaction()
    try producer.send(topic: "t", key: nil, value: [1])
    let error = try #require(failure { () throws(KafkaError) in try producer.commitTransaction(timeout: patience) })
    #expect(error.isFatal)
    #expect(!error.isRetriable)
    #expect(error.code == .fenced)
    #expect(error.description.contains("close it and make a new one"))
    let next = failure { () throws(KafkaError) in try producer.poll() }
    #expect(next?.isFatal == true)
    let sent = failure { () throws(KafkaError) in try producer.send(topic: "t", key: nil, value: [1]) }
    #expect(sent?.isFatal == true)
  }

  @Test("a message that fails makes the commit throw an abortable error, and its report carries its tag")
  func abortable() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try transactional(cluster)
    cluster.broker.pushRequestErrors(.produce, [.messageTooLarge])
    try producer.beginTransaction()
    try producer.send(topic: "t", key: nil, value: [1], tag: 77)
    let error = try #require(failure { () throws(KafkaError) in try producer.commitTransaction(timeout: patience) })
    #expect(error.isAbortable)
    #expect(!error.isFatal && !error.isRetriable)
    let failures = producer.takeDeliveryFailures()
    #expect(failures.map(\.tag) == [77])
    #expect(failures.first?.error.code == .messageTooLarge)
    #expect(failures.first?.error.operation == "delivering a message to t[0]")
    try producer.abortTransaction(timeout: patience)
    #expect(producer.counts.inFlight == 0)
  }

  @Test("offsets of a stale group fail with an abortable error, and the producer works again after the abort")
  func staleGroup() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let consumer = try cluster.consumer(of: "t")
    let producer = try transactional(cluster)
    cluster.broker.pushRequestErrors(.transactionOffsetCommit, [.illegalGeneration])
    try producer.beginTransaction()
    let error = failure { () throws(KafkaError) in
      try producer.sendOffsetsToTransaction(
        [KafkaPosition(KafkaTopicPartition(topic: "t", partition: 0), offset: 1)], group: consumer.groupMetadata(),
        timeout: patience)
    }
    #expect(error?.isAbortable == true)
    try producer.abortTransaction(timeout: patience)
    try producer.beginTransaction()
    try producer.send(topic: "t", key: nil, value: [1])
    try producer.commitTransaction(timeout: patience)
    #expect(producer.counts.delivered == 1)
  }

  @Test("librdkafka repeats the end of a transaction that fails temporarily")
  func retriedEnd() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try transactional(cluster)
    cluster.broker.pushRequestErrors(.endTransaction, [.coordinatorNotAvailable])
    try producer.beginTransaction()
    try producer.send(topic: "t", key: nil, value: [1])
    try producer.commitTransaction(timeout: patience)
    #expect(producer.counts.delivered == 1)
  }

  @Test("a commit that timed out is retriable, and repeating the call completes it")
  func timeOut() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try transactional(cluster)
    try producer.beginTransaction()
    try producer.send(topic: "t", key: nil, value: [1])
    #expect(try producer.flush(timeout: patience))
    try cluster.broker.setRoundTripTime(.milliseconds(700))
    let error = try #require(
      failure { () throws(KafkaError) in try producer.commitTransaction(timeout: .milliseconds(100)) })
    #expect(error.isRetriable)
    #expect(!error.isAbortable && !error.isFatal)
    try cluster.broker.setRoundTripTime(.zero)
    try producer.commitTransaction(timeout: patience)
  }
}
