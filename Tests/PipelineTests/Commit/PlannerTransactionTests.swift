import KafkaClient
import Testing

@testable import Installation
@testable import Pipeline

/// The commit protocol against a producer that fails at a given step.
@Suite("the commit protocol")
struct PlannerTransactionTests {
  private final class Member: GroupMembership {}

  private static func error(
    _ code: KafkaErrorCode, fatal: Bool = false, retriable: Bool = false, abortable: Bool = false
  ) -> KafkaError {
    KafkaError(
      code: code, message: "scripted", operation: "testing", isFatal: fatal, isRetriable: retriable,
      isAbortable: abortable)
  }
  private static let retriable = error(.coordinatorLoading, retriable: true)
  private static let abortable = error(.rebalanceInProgress, abortable: true)
  private static let fatal = error(.fenced, fatal: true)

  private func transaction(
    _ producer: ScriptedProducer, _ clock: SteppedClock = SteppedClock()
  ) -> PlannerTransaction {
    PlannerTransaction(producer: producer, topics: TopicNames(), clock: clock, stop: StopSignal())
  }

  private func batch() -> OutputBatch {
    var batch = OutputBatch()
    batch.append(decisions: [[2, 3], [1]], of: 0)
    batch.closeBlocks()
    batch.append(.state(0), key: [4], value: nil)
    return batch
  }

  private func commit(_ transaction: PlannerTransaction) throws(KafkaError) {
    try transaction.commit([]) { Member() }
  }

  @Test("records go out in one transaction: begin, records, offsets, commit; nothing to send makes none")
  func plain() throws {
    let producer = ScriptedProducer()
    let transaction = transaction(producer)
    try transaction.begin()
    try commit(transaction)
    #expect(producer.calls == [.initialize])
    for _ in 0..<2 {
      try transaction.send(batch())
      try transaction.send(batch())
      #expect(transaction.state == .open(bytes: 10))
      try commit(transaction)
      #expect(transaction.state == .idle)
    }
    let once: [ScriptedProducer.Call] = [.begin, .send, .send, .send, .send, .offsets, .commit]
    #expect(producer.calls == [.initialize] + once + once)
    #expect(producer.records.map(\.topic).prefix(2) == ["rouse.decisions", "rouse.state"])
    #expect(producer.records[0].value == [2, 3, UInt8(ascii: "\n"), 1])
    #expect(producer.keyless.prefix(1) == ["rouse.decisions[0] rouse-decisions=2"])
    #expect(producer.records[1].value == nil)
  }

  @Test("a producer is served while it has nothing to send, and before each try of a call")
  func served() throws {
    let producer = ScriptedProducer()
    let transaction = transaction(producer)
    try transaction.serve()
    #expect(producer.polls == 1 && producer.calls.isEmpty && transaction.state == .idle)
    try transaction.send(batch())
    let before = producer.polls
    producer.failures[.offsets] = [Self.retriable]
    producer.failures[.commit] = [Self.retriable, Self.retriable]
    try commit(transaction)
    #expect(producer.polls == before + 5)
    producer.failures[.poll] = [Self.fatal]
    #expect(throws: Self.fatal) { try transaction.serve() }
    #expect(transaction.state == .unknown)
  }

  @Test("to confirm that it owns its partitions, a worker commits the group's offsets alone")
  func confirming() throws {
    let producer = ScriptedProducer()
    let transaction = transaction(producer)
    try transaction.confirm([]) { Member() }
    #expect(producer.calls == [.begin, .offsets, .commit])
    producer.failures[.offsets] = [Self.abortable]
    #expect(throws: Self.abortable) { try transaction.confirm([]) { Member() } }
    #expect(transaction.state == .failed)
    #expect(transaction.abort() == nil)
    #expect(transaction.state == .idle)
  }

  /// A failing call: the call, its error, the state that follows, and the state after an abort.
  struct Case: CustomTestStringConvertible, Sendable {
    var step: ScriptedProducer.Call
    var error: KafkaError
    var state: PlannerTransaction.State
    var afterAbort: PlannerTransaction.State
    var testDescription: String { "\(step.rawValue), \(error.code.name)" }
  }

  static let cases = [
    Case(step: .begin, error: abortable, state: .failed, afterAbort: .idle),
    Case(step: .begin, error: fatal, state: .unknown, afterAbort: .unknown),
    Case(step: .send, error: abortable, state: .failed, afterAbort: .idle),
    Case(step: .send, error: fatal, state: .unknown, afterAbort: .unknown),
    Case(step: .offsets, error: abortable, state: .failed, afterAbort: .idle),
    Case(step: .offsets, error: fatal, state: .unknown, afterAbort: .unknown),
    Case(step: .commit, error: abortable, state: .failed, afterAbort: .idle),
    Case(step: .commit, error: fatal, state: .unknown, afterAbort: .unknown),
  ]

  @Test("after a failed call the transaction must be aborted, or a new producer is needed", arguments: cases)
  func failing(_ test: Case) throws {
    let producer = ScriptedProducer()
    let transaction = transaction(producer)
    producer.failures[test.step] = [test.error]
    #expect(throws: test.error) {
      try transaction.send(batch())
      try commit(transaction)
    }
    #expect(transaction.state == test.state)
    #expect(transaction.abort() == nil)
    #expect(transaction.state == test.afterAbort)
    #expect(producer.calls.contains(.abort) == (test.afterAbort == .idle))
    guard test.afterAbort == .idle else { return }
    try transaction.send(batch())
    try commit(transaction)
    #expect(transaction.state == .idle)
  }

  @Test("a retriable error of any step is retried", arguments: [ScriptedProducer.Call.offsets, .commit])
  func repeating(_ step: ScriptedProducer.Call) throws {
    let producer = ScriptedProducer()
    let clock = SteppedClock()
    let transaction = transaction(producer, clock)
    producer.failures[step] = Array(repeating: Self.retriable, count: 3)
    try transaction.send(batch())
    try commit(transaction)
    #expect(transaction.state == .idle)
    #expect(producer.calls.count { $0 == step } == 4)
    #expect(clock.elapsed == .milliseconds(300))
  }

  @Test("a commit that is never answered is neither committed nor aborted by this producer")
  func unanswered() throws {
    let producer = ScriptedProducer()
    let clock = SteppedClock()
    let transaction = transaction(producer, clock)
    producer.failures[.commit] = Array(repeating: Self.retriable, count: 10_000)
    #expect(throws: Self.retriable) {
      try transaction.send(batch())
      try commit(transaction)
    }
    #expect(clock.elapsed >= .seconds(120) && clock.elapsed < .seconds(121))
    #expect(transaction.state == .unknown)
    _ = transaction.abort()
    #expect(transaction.state == .unknown)
    #expect(!producer.calls.contains(.abort))
  }

  @Test("an abort that fails leaves it to a new producer")
  func failingAbort() throws {
    let producer = ScriptedProducer()
    let transaction = transaction(producer)
    producer.failures[.abort] = [Self.fatal]
    try transaction.send(batch())
    #expect(transaction.abort() == Self.fatal)
    #expect(transaction.state == .unknown)
  }

  @Test("a refusal is found in the error or in the reports of the records; connections that fail are none")
  func refusals() {
    func report(_ code: KafkaErrorCode) -> KafkaDeliveryFailure {
      KafkaDeliveryFailure(
        partition: KafkaTopicPartition(topic: "rouse.commands", partition: 0), tag: 0,
        error: Self.error(code))
    }
    let producer = ScriptedProducer()
    let transaction = transaction(producer)
    #expect(transaction.refusal(behind: Self.error(.messageTooLarge))?.code == .messageTooLarge)
    #expect(transaction.refusal(behind: Self.abortable) == nil)
    producer.deliveries = [report(.messageTimedOut), report(.invalidRecord)]
    #expect(transaction.refusal(behind: Self.abortable)?.code == .invalidRecord)
    #expect(transaction.refusal(behind: Self.abortable) == nil, "a report counts once")
    producer.deliveries = [report(.messageTimedOut), report(.purgedFromQueue)]
    #expect(transaction.refusal(behind: Self.abortable) == nil)
    producer.deliveries = [report(.invalidTimestamp)]
    #expect(transaction.refusal(behind: Self.abortable)?.code == .invalidTimestamp)
    producer.deliveries = [report(.messageTooLarge)]
    #expect(transaction.refusal(behind: Self.fatal) == nil)
  }
}
