import Installation
import KafkaClient

/// Checks of transactions, which the exactly-once effect relies on.
extension Conformance {
  /// Checks that readers of committed records see neither open nor aborted ones.
  func isolation() throws(KafkaError) -> ConformanceVerdict {
    let producer = try transactional("isolation")
    for (number, ending) in ["commit", "abort", "commit", "open"].enumerated() {
      try producer.beginTransaction()
      try producer.send(topic: transactionTopic, partition: 0, key: nil, value: [UInt8(number)])
      try deliver(producer)
      if ending == "commit" { try producer.commitTransaction(timeout: Self.patience) }
      if ending == "abort" { try producer.abortTransaction(timeout: Self.patience) }
    }
    let seen = try read(transactionTopic).compactMap { $0.value?.first }
    try producer.abortTransaction(timeout: Self.patience)
    switch seen {
    case [0, 2]: return .pass
    default:
      return .fail(
        "of [0 committed, 1 aborted, 2 committed, 3 open] a reader of committed records saw \(seen): after a crash a planner would count from state that was never committed"
      )
    }
  }

  /// Checks that offsets are committed with a committed transaction, and not with an aborted one.
  func offsets() throws(KafkaError) -> ConformanceVerdict {
    let group = try consumer("offsets")
    defer { group.close(timeout: .seconds(2)) }
    let partition = KafkaTopicPartition(topic: transactionTopic, partition: 0)
    try group.assign([partition: .beginning])
    let producer = try transactional("offsets")
    for (offset, commits) in [(Int64(11), true), (12, false)] {
      try producer.beginTransaction()
      try producer.sendOffsetsToTransaction(
        [KafkaPosition(partition, offset: offset)], group: group.groupMetadata(), timeout: Self.patience)
      if commits {
        try producer.commitTransaction(timeout: Self.patience)
      } else {
        try producer.abortTransaction(timeout: Self.patience)
      }
    }
    let kept = try retrying { () throws(KafkaError) in try group.committed([partition], timeout: Self.patience) }
    return kept.first?.offset == 11
      ? .pass : .fail("expected 11, found \(kept.first.map { "\($0.offset)" } ?? "none"): lag tools would be wrong")
  }

  /// Checks that the broker does not return a committed offset while an open transaction may still change it.
  func stableOffsets() throws(KafkaError) -> ConformanceVerdict {
    let group = try consumer("stable")
    defer { group.close(timeout: .seconds(2)) }
    let partition = KafkaTopicPartition(topic: transactionTopic, partition: 0)
    try group.assign([partition: .beginning])
    let producer = try transactional("stable")
    try producer.beginTransaction()
    try producer.sendOffsetsToTransaction(
      [KafkaPosition(partition, offset: 5)], group: group.groupMetadata(), timeout: Self.patience)
    var early: [KafkaPosition]?
    do throws(KafkaError) { early = try group.committed([partition], timeout: .seconds(2)) } catch {
      guard error.isRetriable else { throw error }
    }
    try producer.commitTransaction(timeout: Self.patience)
    if early != nil {
      return .fail(
        "the broker returned an offset that the open transaction was about to move: a new owner could not wait for its predecessor"
      )
    }
    let kept = try retrying { () throws(KafkaError) in try group.committed([partition], timeout: Self.patience) }
    return kept.first?.offset == 5 ? .pass : .fail("the offset of the transaction was not kept")
  }

  /// Checks that a producer cannot commit after another one took over its transactional id.
  func fencing() throws(KafkaError) -> ConformanceVerdict {
    let old = try transactional("fencing")
    try old.beginTransaction()
    try old.send(topic: transactionTopic, partition: 0, key: nil, value: [9])
    try deliver(old)
    let new = try transactional("fencing")
    do throws(KafkaError) {
      try old.commitTransaction(timeout: Self.patience)
    } catch {
      try new.beginTransaction()
      try new.commitTransaction(timeout: Self.patience)
      return error.isFatal ? .pass : .fail("refused, but not for good: \(error)")
    }
    return .fail("it could still commit: a planner that was replaced could spend a token again")
  }

  /// Checks that a member that left its group cannot commit offsets.
  func membership() throws(KafkaError) -> ConformanceVerdict {
    let member = try consumer("membership")
    try member.subscribe([transactionTopic])
    let end = ContinuousClock.now + Self.patience
    while try member.assignment().isEmpty {
      _ = try member.poll(maxMessages: 100, timeout: .milliseconds(50))
      if ContinuousClock.now > end { return .fail("no partition was assigned in 20 s") }
    }
    let metadata = try member.groupMetadata()
    member.close(timeout: .seconds(5))
    // Another member takes the partition over: brokers check no generation in an empty group.
    let other = try consumer("membership")
    defer { other.close(timeout: .seconds(5)) }
    try other.subscribe([transactionTopic])
    while try other.assignment().isEmpty {
      _ = try other.poll(maxMessages: 100, timeout: .milliseconds(50))
      if ContinuousClock.now > end + Self.patience { return .fail("no partition was assigned again in 20 s") }
    }
    let producer = try transactional("membership")
    try producer.beginTransaction()
    let partition = KafkaTopicPartition(topic: transactionTopic, partition: 0)
    do throws(KafkaError) {
      try producer.sendOffsetsToTransaction(
        [KafkaPosition(partition, offset: 1)], group: metadata, timeout: Self.patience)
    } catch {
      try producer.abortTransaction(timeout: Self.patience)
      return error.isAbortable || error.isFatal ? .pass : .fail("\(error)")
    }
    try producer.abortTransaction(timeout: Self.patience)
    return .fail("they were taken: a planner that lost its partition could still commit what it decided")
  }
}
