import Domain
import KafkaClient
import Planning

/// Reads the state of one log partition from `rouse.state`, committed records only.
///
/// A planner that died may have left a transaction open. Its records come before the end of the partition as an
/// uncommitted reader sees it, so a take-over reads until the committed end has reached that end: it waits until the
/// broker has ended the open transaction, and never starts from a state that is about to be overtaken.
struct StateReader {
  let settings: PipelineSettings
  /// Longest time to wait for a transaction left open, beyond which the restore fails (and is tried again).
  let timeout: Duration

  /// - Throws: what Kafka refuses, and `PipelineError.unreadable` for a record that does not read.
  func read(partition: Int32, into restore: inout PlannerRestore, stop: StopSignal) throws(PipelineError) {
    var unreadable: PipelineError?
    do throws(KafkaError) {
      try read(partition: partition, stop: stop) { message in
        guard unreadable == nil, let key = message.key else { return }
        do throws(BinaryError) {
          try restore.add(key: key, value: message.value)
        } catch {
          unreadable = .unreadable(place: "\(message.topicPartition)@\(message.offset)", reason: error.description)
        }
      }
    } catch { throw .kafka(error) }
    if let unreadable { throw unreadable }
  }

  private func read(
    partition: Int32, stop: StopSignal, _ body: (KafkaMessage) -> Void
  ) throws(KafkaError) {
    let topic = KafkaTopicPartition(topic: settings.topics.state, partition: partition)
    let end = try uncommittedEnd(of: topic)
    if end == 0 { return }
    let consumer = try KafkaConsumer(
      settings.client([
        "group.id": "\(settings.group)-restore", "isolation.level": "read_committed", "enable.auto.commit": "false",
        "enable.partition.eof": "true", "auto.offset.reset": "earliest",
      ]))
    defer { consumer.close(timeout: .seconds(2)) }
    try consumer.assign([topic: .beginning])
    var deadline = ContinuousClock.now + timeout
    var reached: Int64 = 0
    while reached < end {
      let batch = try consumer.poll(maxMessages: 10_000, timeout: .milliseconds(200))
      for message in batch.messages {
        body(message)
        reached = max(reached, message.offset + 1)
      }
      if !batch.messages.isEmpty { deadline = ContinuousClock.now + timeout }
      for case .partitionEnd(let position) in batch.events { reached = max(reached, position.offset) }
      guard !stop.isAsked else { throw Self.gaveUp(topic, reached, end, "the process was asked to stop") }
      // Progress counts: only waiting without any is limited.
      if batch.messages.isEmpty, ContinuousClock.now > deadline {
        throw Self.gaveUp(topic, reached, end, "a transaction of an earlier owner is still open")
      }
    }
  }

  private func uncommittedEnd(of topic: KafkaTopicPartition) throws(KafkaError) -> Int64 {
    let consumer = try KafkaConsumer(
      settings.client(["group.id": "\(settings.group)-restore", "isolation.level": "read_uncommitted"]))
    defer { consumer.close(timeout: .seconds(2)) }
    return try retrying { () throws(KafkaError) in try consumer.watermarks(of: topic, timeout: .seconds(10)).high }
  }

  private static func gaveUp(
    _ topic: KafkaTopicPartition, _ reached: Int64, _ end: Int64, _ why: String
  ) -> KafkaError {
    KafkaError(
      code: .timedOut, message: "read up to \(reached) of \(end): \(why)", operation: "restoring \(topic)",
      isRetriable: true)
  }
}
