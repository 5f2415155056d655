import Domain
import Installation
import KafkaClient
import Pipeline

/// Writes a load into the log as intake would, without the work of reading public topics.
final class LoadFeeder {
  private let load: FleetLoad
  private let log: String
  private let partitions: Int
  private let producer: KafkaProducer
  private var bytes: [UInt8] = []

  /// Connects to the broker.
  /// - Parameters:
  ///   - load: the records to write.
  ///   - kafka: the properties of the producer.
  ///   - log: the name of the log topic.
  ///   - partitions: the number of its partitions.
  /// - Throws: `KafkaError` when the producer cannot be created.
  init(_ load: FleetLoad, kafka: KafkaConfiguration, log: String, partitions: Int) throws(KafkaError) {
    self.load = load
    self.log = log
    self.partitions = partitions
    producer = try KafkaProducer(
      kafka.merging(["enable.idempotence": "true", "linger.ms": "5", "compression.type": "lz4"]),
      queueFullTimeout: .seconds(60))
  }

  /// Writes the registration of every device to the device's partition, and waits until the broker has them.
  /// - Throws: `KafkaError` or ``BenchmarkError`` when the broker does not take them within 120 seconds.
  func feedFleet() throws {
    for device in 0..<load.devices {
      let registration = load.registration(device)
      try send(
        LogRecord(
          origin: Origin(topic: "devices", partition: 0, offset: Int64(device)), content: .registration(registration)),
        to: DevicePartitioner.partition(of: registration.device, count: Int32(partitions)),
        key: Array(registration.device.utf8), time: registration.updatedAt)
    }
    try deliver()
  }

  /// Writes events to every partition that has an interested device, and waits until the broker has them.
  /// - Returns: the number of records written, at least one for each event.
  /// - Throws: `KafkaError` or ``BenchmarkError`` when the broker does not take them within 120 seconds.
  func feedEvents(_ range: Range<Int>) throws -> Int {
    var count = 0
    for number in range {
      let event = load.event(number)
      let record = LogRecord(
        origin: Origin(topic: "events", partition: 0, offset: Int64(number)), content: .event(event))
      for partition in load.partitions(of: number, count: partitions) {
        try send(record, to: partition, key: nil, time: event.time)
        count += 1
      }
    }
    try deliver()
    return count
  }

  private func send(_ record: LogRecord, to partition: Int32, key: [UInt8]?, time: Timestamp) throws(KafkaError) {
    bytes.removeAll(keepingCapacity: true)
    record.encode(into: &bytes)
    let value = bytes
    try producer.send(
      topic: log, partition: partition, key: key, value: value.span, timestampMilliseconds: time.milliseconds)
  }

  private func deliver() throws {
    guard try producer.flush(timeout: .seconds(120)) else {
      throw BenchmarkError("the broker did not take the benchmark's input within 120 s")
    }
    if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
  }
}
