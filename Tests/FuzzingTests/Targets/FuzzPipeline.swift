import Domain
import KafkaClient
import Planning
import Policies

@testable import Installation
@testable import Pipeline

/// A planner with everything that reads what it writes. After each record its decisions and commands are read back, and its
/// state is kept as `rouse.state` would hold it.
struct FuzzPipeline {
  /// 2026-07-01T12:00:00Z in µs.
  static let noon: Int64 = 1_782_907_200_000_000

  private(set) var processor: PartitionProcessor
  /// The records that `rouse.state` would hold after compaction.
  private(set) var state: [[UInt8]: [UInt8]] = [:]
  /// The decisions and commands so far, one each.
  private(set) var lines: [[UInt8]] = []
  private var offset: Int64 = 0

  /// Makes the planner of an empty partition.
  /// - Throws: never, for empty state.
  init() throws {
    processor = try PartitionProcessor(
      restoring: PlannerRestore(partition: 0, partitionCount: 1), isNew: true, initialPolicy: .none)
  }

  /// Decodes a public record as intake does.
  /// - Parameters:
  ///   - letter: `e` event, `r` registration, `s` signal, `f` forget, `p` policy; anything else is a tick.
  ///   - text: the record's value.
  /// - Returns: nil for a record that intake refuses.
  static func content(_ letter: Character, _ text: [UInt8]) throws -> LogRecord.Content? {
    let record = CloudEventRecord(
      headers: [.init(name: "content-type", value: Array("application/cloudevents+json".utf8))], value: text,
      timestamp: Timestamp(microseconds: noon))
    do throws(DomainError) {
      switch letter {
      case "e": return .event(try CloudEventDecoder().decode(record))
      case "r": return .registration(try RegistrationDecoder().decode(text))
      case "s": return .signal(try SignalDecoder().decode(record))
      case "f":
        let device = Identifier(decoding: text)
        try Registration.requireDevice(device, path: "key")
        return .forget(device: device)
      case "p": return .policy(document: policy(String(decoding: text, as: UTF8.self)))
      case _: return .tick
      }
    } catch { return nil }
  }

  /// Returns the record of a policy: with its profile if it can be read, else as it is, so that planners refuse it.
  private static func policy(_ text: String) -> String {
    do throws(PolicyError) {
      return try PolicyDocument(yaml: text, file: "policy.yaml").text
    } catch { return text }
  }

  /// Plans one record of the log, and reads what the planner wrote.
  /// - Throws: a finding.
  mutating func plan(_ record: [UInt8], at time: Int64) throws {
    defer { offset += 1 }
    var batch = OutputBatch()
    if case .begun = processor.begin(record, offset: offset, timestamp: time) {
      var steps = 0
      while !processor.step(into: &batch, decisionsMax: 500).isDone {
        steps += 1
        try FuzzFinding.unless(steps < 1000, "record \(offset) is not done after 500,000 decisions")
      }
    }
    processor.takeState(into: &batch)
    batch.closeBlocks()
    try read(batch)
    let violations = processor.checkInvariants()
    try FuzzFinding.unless(violations.isEmpty, "\(violations)")
  }

  private mutating func read(_ batch: OutputBatch) throws {
    try batch.forEachBlock { (_, count, bytes) throws in
      let block = DecisionBlock(bytes.indices.map { bytes[$0] }, count: Array("\(count)".utf8))
      let documents = block.documents
      try FuzzFinding.unless(block.contradiction(lines: documents.count) == nil, "a block has another number of lines")
      for line in documents {
        try readable("decision", line) { try Decision(json: $0).json() }
        lines.append(line)
      }
    }
    try batch.forEachDestination { (destination, places) throws in
      for place in places {
        let value = place.value.map { Array(batch.bytes[$0]) }
        switch destination {
        case .commands:
          try readable("command", value ?? []) { try Command(json: $0).json() }
          lines.append(value ?? [])
        case .state:
          try FuzzFinding.unless((value?.count ?? 0) <= TopicPlan.stateRecordBytesMax, "a state record is too large")
          state[Array(batch.bytes[place.key ?? 0..<0])] = value
        }
      }
    }
  }

  private func readable(_ what: String, _ bytes: [UInt8], _ read: ([UInt8]) throws -> [UInt8]) throws {
    do { _ = try read(bytes) } catch {
      throw FuzzFinding(
        "a \(what) that the planner wrote is refused: \(error): \(String(decoding: bytes, as: UTF8.self))")
    }
  }

  /// The number of ticks after which a run is left as it is.
  static let ticksMax = 200

  /// The time at which the next timer is due, µs; nil if none is, or only at the end of time.
  var nextTick: Int64? { processor.nextTimer.flatMap { $0.microseconds < Int64.max / 2 ? $0.microseconds : nil } }

  /// Plans a tick.
  /// - Throws: a finding.
  mutating func tick(at time: Int64) throws {
    var tick: [UInt8] = []
    LogRecord(origin: nil, content: .tick).encode(into: &tick)
    try plan(tick, at: time)
  }

  /// Restores a planner from the state.
  /// - Returns: the restored pipeline, which has written nothing.
  /// - Throws: a finding when the state is refused.
  func restored() throws -> FuzzPipeline {
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    var copy = try FuzzPipeline()
    do {
      // The topic has chunks in the order of their numbers; what comes later counts.
      let records = state.sorted { Self.chunk($0.key) < Self.chunk($1.key) }
      for (key, value) in records { try restore.add(key: key, value: value) }
      copy.processor = try PartitionProcessor(restoring: restore, isNew: false, initialPolicy: .none)
    } catch { throw FuzzFinding("the state that the planner wrote is refused: \(error)") }
    copy.state = state
    copy.offset = offset
    return copy
  }

  /// Returns the number of the chunk that a record of `rouse.state` is; −1 for any other record.
  private static func chunk(_ key: [UInt8]) -> Int64 {
    key.starts(with: "c/".utf8) || key.starts(with: "n/".utf8)
      ? Int64(String(decoding: key.dropFirst(2), as: UTF8.self), radix: 16) ?? -1 : -1
  }
}
