import KafkaClient
import Testing

@Suite("batches that librdkafka cannot unpack")
struct UnreadableBatchTests {
  private let partition = KafkaTopicPartition(topic: "t", partition: 0)

  /// Settings with which a consumer unpacks no batch into more than 30,000 bytes.
  private static let narrow: KafkaConfiguration = [
    "message.max.bytes": "10000", "fetch.max.bytes": "10000", "receive.message.max.bytes": "30000",
  ]

  /// A topic with a record at offset 0, a batch of three records of zeros at offsets 1 to 3, and a record at offset 4. The
  /// batch has 600,000 bytes, which zstd packs into less than a hundred.
  private func cluster(_ properties: KafkaConfiguration = ["compression.type": "zstd"]) throws -> EmbeddedCluster {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let producer = try cluster.producer(KafkaConfiguration([("linger.ms", "500")]).merging(properties))
    for sizes in [[1], [200_000, 200_000, 200_000], [1]] {
      for size in sizes {
        try producer.send(topic: "t", partition: 0, key: nil, value: [UInt8](repeating: 0, count: size))
      }
      #expect(try producer.flush(timeout: patience))
    }
    return cluster
  }

  /// Polls until this many errors came; the errors, and the offsets of the messages that came meanwhile.
  private func errors(
    _ count: Int, _ consumer: KafkaConsumer
  ) throws -> (errors: [KafkaError], offsets: [Int64]) {
    var errors: [KafkaError] = []
    var offsets: [Int64] = []
    try consumer.pollUntil { batch in
      offsets += batch.messages.map(\.offset)
      for case .error(let error) in batch.events { errors.append(error) }
      return errors.count >= count
    }
    return (errors, offsets)
  }

  @Test("a batch that cannot be unpacked stops the partition, and each poll reports it with its first offset")
  func told() throws {
    let cluster = try cluster()
    let consumer = try cluster.consumer(of: "t", Self.narrow)
    let (errors, offsets) = try errors(3, consumer)
    #expect(offsets == [0])
    #expect(errors.count >= 3)
    for error in errors {
      #expect(error.code == .badCompression)
      #expect(error.unreadableBatch == KafkaPosition(partition, offset: 1))
      #expect(!error.isRetriable && !error.isFatal)
      #expect(error.description.hasPrefix("consuming t[0] failed: Decompression (codec 0x4) of message at 1 "))
    }
  }

  @Test("a topic is written with its own properties, if it has some, and else with those of the client")
  func topicProperties() throws {
    var properties: KafkaConfiguration = ["compression.type": "none"]
    properties.topicProperties["t"] = ["compression.type": "zstd"]
    let cluster = try cluster(properties)
    let consumer = try cluster.consumer(of: "t", Self.narrow)
    #expect(try errors(1, consumer).errors.first?.code == .badCompression)
  }

  @Test("a seek into such a batch changes nothing, and reading continues after a seek behind it")
  func seek() throws {
    let cluster = try cluster()
    let consumer = try cluster.consumer(of: "t", Self.narrow)
    _ = try errors(1, consumer)
    try consumer.seek(partition, to: .at(2))
    let (errors, offsets) = try errors(2, consumer)
    #expect(offsets.isEmpty)
    #expect(errors.allSatisfy { $0.unreadableBatch == KafkaPosition(partition, offset: 1) })
    try consumer.seek(partition, to: .at(4))
    #expect(try consumer.take(1).map(\.offset) == [4])
  }

  @Test("a consumer with room for it unpacks the same batch")
  func roomier() throws {
    let cluster = try cluster()
    #expect(try cluster.consumer(of: "t").take(5).map(\.offset) == [0, 1, 2, 3, 4])
  }

  @Test("an error that names a position without being about a batch is no unreadable batch")
  func otherErrors() {
    let position = KafkaPosition(partition, offset: 7)
    let reset = KafkaError(code: .offsetResetForbidden, message: "", operation: "", position: position)
    #expect(reset.unreadableBatch == nil)
    #expect(KafkaError(code: .badCompression, message: "", operation: "").unreadableBatch == nil)
    #expect(KafkaError(code: .badMessage, message: "", operation: "", position: position).unreadableBatch == position)
  }
}
