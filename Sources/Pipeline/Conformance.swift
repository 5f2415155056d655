import Foundation
import KafkaClient

/// Checks on a broker what Rouse relies on, with topics of its own that it deletes in the end where the broker can.
public final class Conformance {
  /// One thing relied upon, and how the broker did.
  public struct Finding: Equatable, Sendable {
    public enum Outcome: String, Sendable, CaseIterable {
      case pass, fail
      /// The broker does not know the request; Rouse goes without.
      case notSupported = "not supported"
    }
    public var name: String
    public var outcome: Outcome
    /// Whether Rouse's guarantees need it.
    public var isNeeded: Bool
    /// What was seen where it did not pass, and what follows.
    public var detail: String
  }

  private let settings: PipelineSettings
  private let prefix: String
  private var made: Set<String> = []
  private static let patience = Duration.seconds(20)
  /// For making topics: a broker that knows the request answers at once, one that does not never.
  private static let makingPatience = Duration.seconds(5)

  /// - Parameter settings: topics are made under its prefix, groups and transactional ids under its group.
  public init(settings: PipelineSettings) {
    self.settings = settings
    prefix = "\(settings.topics.prefix)conformance-\(UInt32.random(in: 0 ... .max))-"
  }

  /// How long the broker's cleaner is waited for: it looks every 15 s by default (`log.cleaner.backoff.ms`).
  private static let cleanerPatience = Duration.seconds(60)

  /// Runs every check; takes some seconds, up to a minute for compaction, more on a broker that does not answer.
  /// - Parameter report: told of each finding as it comes.
  public func run(_ report: (Finding) -> Void) -> [Finding] {
    var findings: [Finding] = []
    func check(_ name: String, needed: Bool = true, _ body: () throws(KafkaError) -> Verdict) {
      let verdict: Verdict
      do throws(KafkaError) { verdict = try body() } catch {
        verdict = error.code.isUnsupported ? .notSupported("\(error)") : .fail("\(error)")
      }
      let finding =
        switch verdict {
        case .pass: Finding(name: name, outcome: .pass, isNeeded: needed, detail: "")
        case .fail(let text): Finding(name: name, outcome: .fail, isNeeded: needed, detail: text)
        case .notSupported(let text): Finding(name: name, outcome: .notSupported, isNeeded: needed, detail: text)
        }
      findings.append(finding)
      report(finding)
    }
    check("topics are made with settings", needed: false) { () throws(KafkaError) in try makeTopics() }
    check("compaction is configured") { () throws(KafkaError) in try compaction() }
    let unwatched = beginCompaction()
    check("the broker's clock stamps the log") { () throws(KafkaError) in try appendTime() }
    check("records keep order, key, headers and emptiness") { () throws(KafkaError) in try order() }
    check("records of 3.9 MB pass where they are allowed") { () throws(KafkaError) in try size() }
    check("committed records are seen, open and aborted ones are not") { () throws(KafkaError) in try isolation() }
    check("offsets of a transaction are kept, those of an aborted one are not") { () throws(KafkaError) in
      try offsets()
    }
    check("stable offsets are not told while a transaction holds some") { () throws(KafkaError) in try stableOffsets() }
    check("a producer whose id was taken over is fenced") { () throws(KafkaError) in try fencing() }
    check("offsets of a member that left are refused") { () throws(KafkaError) in try membership() }
    // Last, as it may take longer than all others.
    check("what is superseded is removed", needed: false) { () throws(KafkaError) in
      if let unwatched { return .notSupported("no topic with short segments could be made to see it: \(unwatched)") }
      return try watchCompaction()
    }
    clean()
    return findings
  }

  private enum Verdict {
    case pass
    case fail(String)
    case notSupported(String)
  }

  // MARK: Topics

  private var stateTopic: String { prefix + "state" }
  private var compactedTopic: String { prefix + "compacted" }
  private var logTopic: String { prefix + "log" }
  private var plainTopic: String { prefix + "plain" }
  private var transactionTopic: String { prefix + "transactions" }

  private func makeTopics() throws(KafkaError) -> Verdict {
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

  private func compaction() throws(KafkaError) -> Verdict {
    guard made.contains(stateTopic) else {
      return .fail("no topic could be made with settings: state would never shrink")
    }
    let found = try admin().describeTopicConfiguration(stateTopic, timeout: Self.patience)["cleanup.policy"]
    return found == "compact" ? .pass : .fail("cleanup.policy is \(found ?? "not stated"): state would never shrink")
  }

  /// Writes the first record of a topic whose segments are over at once, to be superseded later. Some brokers allow no such
  /// segments, which says nothing about what they do with usual ones.
  /// - Returns: why that could not be done; nil when it was.
  private func beginCompaction() -> String? {
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

  private func watchCompaction() throws(KafkaError) -> Verdict {
    // The newest segment is never cleaned: the last record begins one, and keeps what supersedes the first out of it.
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

  /// Deletes what was made. On a broker that made topics by being asked about them they stay.
  private func clean() {
    guard !made.isEmpty else { return }
    // Nothing depends on it: what stays is named by its prefix.
    _ = try? admin().deleteTopics(made.sorted(), timeout: Self.patience)
  }

  private func admin() throws(KafkaError) -> KafkaAdmin { try KafkaAdmin(settings.client([:])) }

  // MARK: Records

  private func appendTime() throws(KafkaError) -> Verdict {
    let producer = try self.producer()
    try producer.send(topic: logTopic, partition: 0, key: nil, value: [1], timestampMilliseconds: 1000)
    try deliver(producer)
    let time = try read(logTopic).first?.timestampMilliseconds ?? 0
    let now = Int64(Date().timeIntervalSince1970 * 1000)
    return time > now - 600_000
      ? .pass
      : .fail(
        "a record kept its producer's time: planner time is then that of whichever intake wrote (timestamps: event needs that)"
      )
  }

  private func order() throws(KafkaError) -> Verdict {
    let producer = try self.producer()
    let count = 500
    for number in 0..<count {
      try producer.send(
        topic: plainTopic, partition: 0, key: [UInt8(number & 255)],
        value: number % 7 == 0 ? nil : Array("\(number)".utf8),
        headers: [KafkaHeader("a", "\(number)"), KafkaHeader("a", [UInt8]()), KafkaHeader("n", nil)])
    }
    try deliver(producer)
    let messages = try read(plainTopic)
    guard messages.count == count else { return .fail("\(count) records were written and \(messages.count) read") }
    for (number, message) in messages.enumerated() {
      let expected = number % 7 == 0 ? nil : Array("\(number)".utf8)
      let headers = [KafkaHeader("a", "\(number)"), KafkaHeader("a", [UInt8]()), KafkaHeader("n", nil)]
      guard message.value == expected, message.key == [UInt8(number & 255)], message.headers == headers else {
        return .fail("record \(number) came back as another: \(message.topicPartition)@\(message.offset)")
      }
    }
    return .pass
  }

  private func size() throws(KafkaError) -> Verdict {
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

  // MARK: Transactions

  private func isolation() throws(KafkaError) -> Verdict {
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

  private func offsets() throws(KafkaError) -> Verdict {
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
      ? .pass : .fail("expected 11, found \(kept.first.map { "\($0.offset)" } ?? "none"): lag cannot be told")
  }

  private func stableOffsets() throws(KafkaError) -> Verdict {
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
      return .fail("offsets were told at once: a take-over could not wait for what its predecessor may still commit")
    }
    let kept = try retrying { () throws(KafkaError) in try group.committed([partition], timeout: Self.patience) }
    return kept.first?.offset == 5 ? .pass : .fail("the offset of the transaction was not kept")
  }

  private func fencing() throws(KafkaError) -> Verdict {
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

  private func membership() throws(KafkaError) -> Verdict {
    let member = try consumer("membership")
    try member.subscribe([transactionTopic])
    let end = ContinuousClock.now + Self.patience
    while try member.assignment().isEmpty {
      _ = try member.poll(maxMessages: 100, timeout: .milliseconds(50))
      if ContinuousClock.now > end { return .fail("no partition was assigned in 20 s") }
    }
    let metadata = try member.groupMetadata()
    member.close(timeout: .seconds(5))
    // Somebody else has the partition now; an empty group asks nobody.
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

  // MARK: Clients

  private func producer(_ more: KeyValuePairs<String, String> = [:]) throws(KafkaError) -> KafkaProducer {
    try KafkaProducer(
      settings.client(["enable.idempotence": "true"]).merging(KafkaConfiguration(more.map { ($0.key, $0.value) })))
  }

  private func transactional(_ name: String) throws(KafkaError) -> KafkaProducer {
    let producer = try KafkaProducer(
      settings.client([
        "transactional.id": "\(settings.group)-\(prefix)\(name)", "enable.idempotence": "true",
        "transaction.timeout.ms": "30000",
      ]))
    try retrying { () throws(KafkaError) in try producer.initTransactions(timeout: Self.patience) }
    return producer
  }

  private func consumer(_ name: String) throws(KafkaError) -> KafkaConsumer {
    try KafkaConsumer(
      settings.client([
        "group.id": "\(settings.group)-\(prefix)\(name)", "isolation.level": "read_committed",
        "enable.auto.commit": "false", "auto.offset.reset": "earliest",
      ]))
  }

  private func deliver(_ producer: KafkaProducer) throws(KafkaError) {
    let all = try producer.flush(timeout: Self.patience)
    if let error = producer.takeDeliveryFailures().first?.error { throw error }
    guard all else {
      throw KafkaError(code: .timedOut, message: "no confirmation in 20 s", operation: "writing a record")
    }
  }

  private func read(_ topic: String) throws(KafkaError) -> [KafkaMessage] {
    var messages: [KafkaMessage] = []
    _ = try TopicReader(settings: settings, patience: Self.patience).read(topic) { messages.append($0) }
    return messages
  }
}

extension KafkaErrorCode {
  /// The broker is too old for the request, or does not know it.
  fileprivate var isUnsupported: Bool { self == .unsupportedVersion || self == .unsupportedFeature }
}
