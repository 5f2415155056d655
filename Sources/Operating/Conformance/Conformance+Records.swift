import Foundation
import KafkaClient

/// Checks of how a broker keeps records.
extension Conformance {
  /// Checks that the broker sets the timestamps of records in the log, instead of keeping the producer's.
  func appendTime() throws(KafkaError) -> ConformanceVerdict {
    let producer = try self.producer()
    try producer.send(topic: logTopic, partition: 0, key: nil, value: [1], timestampMilliseconds: 1000)
    try deliver(producer)
    let time = try read(logTopic).first?.timestampMilliseconds ?? 0
    let now = Int64(Date().timeIntervalSince1970 * 1000)
    return time > now - 600_000
      ? .pass
      : .fail(
        "a record kept its producer's timestamp, so log time would be the clock of the intake that wrote it (only timestamps: event needs that)"
      )
  }

  /// Checks that records come back in order and unchanged, compressed as planners compress them.
  func order() throws(KafkaError) -> ConformanceVerdict {
    let producer = try self.producer(["compression.type": "zstd", "compression.level": "1"])
    let count = 500
    for number in 0..<count {
      try producer.send(
        topic: plainTopic, partition: 0, key: number % 5 == 0 ? nil : [UInt8(number & 255)],
        value: number % 7 == 0 ? nil : Array("\(number)".utf8),
        headers: [KafkaHeader("a", "\(number)"), KafkaHeader("a", [UInt8]()), KafkaHeader("n", nil)])
    }
    try deliver(producer)
    let messages = try read(plainTopic)
    guard messages.count == count else { return .fail("\(count) records were written and \(messages.count) read") }
    for (number, message) in messages.enumerated() {
      let expected = number % 7 == 0 ? nil : Array("\(number)".utf8)
      let headers = [KafkaHeader("a", "\(number)"), KafkaHeader("a", [UInt8]()), KafkaHeader("n", nil)]
      let key = number % 5 == 0 ? nil : [UInt8(number & 255)]
      guard message.value == expected, message.key == key, message.headers == headers else {
        return .fail("record \(number) came back as another: \(message.topicPartition)@\(message.offset)")
      }
    }
    return .pass
  }

  /// Checks that the broker accepts a state record of 3.9 MB, close to the largest that is allowed, and returns it
  /// unchanged.
  func size() throws(KafkaError) -> ConformanceVerdict {
    let producer = try self.producer(["message.max.bytes": "4194304"])
    var state: UInt64 = 1
    let value = (0..<3_900_000).map { (_: Int) -> UInt8 in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
    try producer.send(topic: stateTopic, partition: 0, key: [1], value: value)
    do throws(KafkaError) { try deliver(producer) } catch {
      return .fail("\(error); a device with very much on it could not be kept")
    }
    return try read(stateTopic).last?.value == value ? .pass : .fail("the record did not come back as it was")
  }
}
