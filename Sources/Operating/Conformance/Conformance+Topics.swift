import Foundation
import KafkaClient

/// Checks of how a broker makes and compacts topics.
extension Conformance {
  var stateTopic: String { prefix + "state" }
  var compactedTopic: String { prefix + "compacted" }
  var logTopic: String { prefix + "log" }
  var plainTopic: String { prefix + "plain" }
  var transactionTopic: String { prefix + "transactions" }

  /// Creates the topics that the other checks use, and returns whether the broker could.
  func makeTopics() throws(KafkaError) -> ConformanceVerdict {
    let topics = [
      KafkaNewTopic(
        name: stateTopic, partitions: 1, configuration: ["cleanup.policy": "compact", "max.message.bytes": "4194304"]),
      KafkaNewTopic(name: logTopic, partitions: 1, configuration: ["message.timestamp.type": "LogAppendTime"]),
      KafkaNewTopic(name: plainTopic, partitions: 1), KafkaNewTopic(name: transactionTopic, partitions: 1),
    ]
    do throws(KafkaError) {
      for result in try admin().createTopics(topics, timeout: Self.makingPatience) {
        if let error = result.error { return .fail("\(error)") }
        made.insert(result.name)
      }
    } catch {
      guard error.code == .timedOut else { throw error }
      return .notSupported("no answer; topics have to be made by other means. \(error)")
    }
    return .pass
  }

  /// Checks that the broker kept the setting that a topic is compacted (`cleanup.policy`).
  func compaction() throws(KafkaError) -> ConformanceVerdict {
    guard made.contains(stateTopic) else {
      return .fail("no topic could be made with settings: state would never shrink")
    }
    let found = try admin().describeTopicConfiguration(stateTopic, timeout: Self.patience)["cleanup.policy"]
    return found == "compact" ? .pass : .fail("cleanup.policy is \(found ?? "not stated"): state would never shrink")
  }

  /// Writes the first record of a topic with segments of 100 ms, to be superseded later. Some brokers allow no such short
  /// segments; they may still compact segments of the usual length.
  ///
  /// - Returns: The reason why the record could not be written; nil if it was.
  func beginCompaction() -> String? {
    guard made.contains(stateTopic) else { return "topics have to be made by other means" }
    let topic = KafkaNewTopic(
      name: compactedTopic, partitions: 1,
      configuration: ["cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"])
    do throws(KafkaError) {
      for result in try admin().createTopics([topic], timeout: Self.patience) {
        if let error = result.error { return "\(error)" }
      }
      made.insert(compactedTopic)
      try append(1)
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func append(_ value: UInt8) throws(KafkaError) {
    let producer = try self.producer()
    try producer.send(topic: compactedTopic, partition: 0, key: [1], value: [value])
    try deliver(producer)
  }

  /// Checks that the cleaner removes a superseded record, which `beginCompaction` has written.
  func watchCompaction() throws(KafkaError) -> ConformanceVerdict {
    // The newest segment is never cleaned. The third record begins it, so that the second is in an older segment and
    // supersedes the first there.
    for value in [UInt8(2), 3] {
      Thread.sleep(forTimeInterval: 0.3)
      try append(value)
    }
    let end = ContinuousClock.now + Self.cleanerPatience
    while try read(compactedTopic).contains(where: { $0.value == [1] }) {
      if ContinuousClock.now > end {
        return .fail(
          "a superseded record was still there after 60 s: rouse.state grows until the broker's cleaner works (log.cleaner.enable)"
        )
      }
      Thread.sleep(forTimeInterval: 0.5)
    }
    return .pass
  }
}
