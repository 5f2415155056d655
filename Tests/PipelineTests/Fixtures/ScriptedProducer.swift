import KafkaClient

@testable import Installation
@testable import Pipeline

/// A producer whose calls fail in the order that a test sets; it records the calls.
final class ScriptedProducer: ClusterProducer {
  enum Call: String { case initialize, begin, send, offsets, commit, abort, poll }

  /// The calls but polls.
  private(set) var calls: [Call] = []
  private(set) var polls = 0
  /// The errors of the next calls of each kind, one for each call.
  var failures: [Call: [KafkaError]] = [:]
  /// The topic, the partition and the headers of each record without a key.
  private(set) var keyless: [String] = []
  private(set) var records: [(topic: String, key: [UInt8], value: [UInt8]?)] = []

  private func perform(_ call: Call) throws(KafkaError) {
    if call == .poll { polls += 1 } else { calls.append(call) }
    guard var left = failures[call], !left.isEmpty else { return }
    let error = left.removeFirst()
    failures[call] = left
    throw error
  }

  var counts: KafkaDeliveryCounts { KafkaDeliveryCounts(sent: 0, delivered: 0, failed: 0, purged: 0) }
  func send(_ record: KafkaRecord) throws(KafkaError) {
    try perform(.send)
    if record.key == nil {
      let headers = record.headers.map { "\($0.name)=\(String(decoding: $0.value ?? [], as: UTF8.self))" }
      keyless.append("\(record.topic)[\(record.partition ?? -1)] \(headers.joined(separator: " "))")
    }
    records.append((record.topic, record.key ?? [], record.value))
  }
  func send(topic: String, partition: Int32?, key: Span<UInt8>, value: Span<UInt8>) throws(KafkaError) {
    try perform(.send)
    records.append((topic, key.bytes(), value.bytes()))
  }
  func send(topic: String, partition: Int32?, removing key: Span<UInt8>) throws(KafkaError) {
    try perform(.send)
    records.append((topic, key.bytes(), nil))
  }
  func inFlight(tag: UInt64) -> UInt64 { 0 }
  func poll(timeout: Duration) throws(KafkaError) { try perform(.poll) }
  func flush(timeout: Duration) throws(KafkaError) -> Bool { true }
  /// The reports of records that failed.
  var deliveries: [KafkaDeliveryFailure] = []
  func takeDeliveryFailures() -> [KafkaDeliveryFailure] {
    defer { deliveries = [] }
    return deliveries
  }
  func initTransactions(timeout: Duration) throws(KafkaError) { try perform(.initialize) }
  func beginTransaction() throws(KafkaError) { try perform(.begin) }
  func sendOffsetsToTransaction(
    _ positions: [KafkaPosition], group: any GroupMembership, timeout: Duration
  ) throws(KafkaError) { try perform(.offsets) }
  func commitTransaction(timeout: Duration) throws(KafkaError) { try perform(.commit) }
  func abortTransaction(timeout: Duration) throws(KafkaError) { try perform(.abort) }
}

extension Span<UInt8> {
  fileprivate func bytes() -> [UInt8] {
    var bytes: [UInt8] = []
    for i in indices { bytes.append(self[i]) }
    return bytes
  }
}
