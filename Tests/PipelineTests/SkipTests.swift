import Domain
import KafkaClient
import Synchronization
import Testing

@testable import Installation
@testable import Operating
@testable import Pipeline

/// A record that cannot be read stops its partition alone, and an operator's order leads behind it.
@Suite("orders to pass over records", .serialized)
struct SkipTests {
  /// The counts of a pipeline that a restart behind an order must not change.
  private struct Counts: Equatable {
    let met: Int
    let stopped: Int
    let taken: Int
    let dropped: Int

    init(_ fixture: PipelineFixture) {
      met = fixture.counters[.unreadableBatches]
      stopped = fixture.counters[.partitionsStopped]
      taken = fixture.counters[.skipsTaken]
      dropped = fixture.counters[.duplicatesDropped]
    }

    /// Whether a count is that of one stop or order. A stage that had to join its group again, or to abort, before the order was committed
    /// stops again and takes the order again; but not more than twice, or something repeats by itself.
    static func isOnce(_ count: Int) -> Bool { (1...3).contains(count) }
  }

  /// A pipeline whose consumers unpack no batch of 10 MB.
  private func fixture() throws -> PipelineFixture {
    let fixture = try PipelineFixture()
    fixture.settings.kafka = fixture.settings.kafka.merging([
      "fetch.max.bytes": "4194304", "receive.message.max.bytes": "5000000",
    ])
    return fixture
  }

  /// Appends a batch that unpacks to 10 MB of zeros. A producer may split a batch of several records, but never a record.
  private func appendBatch(
    _ topic: String, partition: Int32 = 0, records: Int = 1, _ fixture: PipelineFixture
  ) throws {
    let producer = try KafkaProducer([
      "bootstrap.servers": fixture.bootstrap, "compression.type": "zstd", "linger.ms": "60000",
      "message.max.bytes": "20000000", "batch.size": "20000000",
    ])
    if records > 1 {
      // Once the producer is connected to the partition's leader, all that waits for a flush becomes one batch.
      try producer.send(topic: topic, partition: partition, key: nil, value: [1])
      #expect(try producer.flush(timeout: .seconds(60)))
    }
    for _ in 0..<records {
      try producer.send(
        topic: topic, partition: partition, key: nil, value: [UInt8](repeating: 0, count: 10_800_000 / records),
        timestampMilliseconds: PipelineFixture.noon)
    }
    #expect(try producer.flush(timeout: .seconds(60)))
    #expect(producer.takeDeliveryFailures().isEmpty)
  }

  /// Finds what stops a partition, and orders to pass over it.
  @discardableResult
  private func skip(_ topic: String, at offset: Int64, _ fixture: PipelineFixture) throws -> Skip {
    let skips = Skips(settings: fixture.settings.cluster, state: .planner)
    let skip = try skips.find(at: KafkaPosition(KafkaTopicPartition(topic: topic, partition: 0), offset: offset))
    try skips.give(skip)
    return skip
  }

  @Test("the end of a batch is found from each of its offsets; a record that can be read stands for itself")
  func find() throws {
    let fixture = try fixture()
    let topic = fixture.settings.eventTopics[0]
    let partition = KafkaTopicPartition(topic: topic, partition: 0)
    try fixture.publish(topic, key: nil, value: [1])
    // Each is preceded by one record that can be read.
    try appendBatch(topic, records: 12, fixture)
    try appendBatch(topic, records: 12, fixture)
    try fixture.publish(topic, key: nil, value: [1])
    let skips = Skips(settings: fixture.settings.cluster, state: .planner)
    func find(_ offset: Int64) throws -> Skip { try skips.find(at: KafkaPosition(partition, offset: offset)) }
    #expect(try find(0) == Skip(KafkaPosition(partition, offset: 0), next: 1))
    for offset in [2, 3, 13] as [Int64] {
      #expect(try find(offset) == Skip(KafkaPosition(partition, offset: 2), next: 14))
    }
    #expect(try find(15) == Skip(KafkaPosition(partition, offset: 15), next: 27))
    #expect(try find(27) == Skip(KafkaPosition(partition, offset: 27), next: 28))
    #expect(throws: KafkaError.self) { try find(28) }
    #expect(throws: KafkaError.self) {
      try skips.find(
        at: KafkaPosition(KafkaTopicPartition(topic: fixture.settings.topics.deadLetters, partition: 0), offset: 0))
    }
  }

  @Test("intake passes over a batch that cannot be unpacked, and does not meet it again after a restart")
  func intake() throws {
    let fixture = try fixture()
    let topic = fixture.settings.eventTopics[0]
    let done = try fixture.run(
      roles: [.intake],
      fixture.phase(.eventsAccepted, plus: 1) { try fixture.delay(10, id: "e1", after: 1) },
      fixture.phase(.unreadableBatches, plus: 1) {
        try appendBatch(topic, fixture)
        try fixture.delay(20, id: "e2", after: 2)
      },
      fixture.phase(.eventsAccepted, plus: 1) {
        let next = try skip(topic, at: 1, fixture).next
        #expect(next == 2)
      })
    #expect(done)
    let before = Counts(fixture)
    #expect(Counts.isOnce(before.met) && Counts.isOnce(before.taken))
    #expect(
      try fixture.run(
        roles: [.intake],
        fixture.phase(.eventsAccepted, plus: 1) { try fixture.delay(30, id: "e3", after: 3) }))
    #expect(Counts(fixture) == before)
  }

  /// A cause that stops a log partition.
  enum Obstacle: CaseIterable { case newerRecord, batch }

  @Test(
    "a log partition with a record that cannot be read stops alone, and goes on behind it when an operator orders so",
    arguments: Obstacle.allCases)
  func planner(obstacle: Obstacle) throws {
    let fixture = try fixture()
    let log = fixture.settings.topics.log
    let first = (0..<20).filter { DevicePartitioner.partition(of: "d\($0)", count: 2) == 0 }.count
    try #require(first > 0 && first < 20)
    var place: Int64 = 0
    let done = try fixture.run(
      fixture.registering(20),
      fixture.phase(.partitionsStopped, plus: 1) {
        place = try fixture.read(log).filter { $0.partition == 0 }.map { $0.offset + 1 }.max() ?? 0
        switch obstacle {
        case .newerRecord:
          let producer = try KafkaProducer(["bootstrap.servers": fixture.bootstrap])
          try producer.send(
            topic: log, partition: 0, key: nil, value: [2, 1, 2], timestampMilliseconds: PipelineFixture.noon)
          _ = try producer.flush(timeout: .seconds(60))
        case .batch: try appendBatch(log, fixture)
        }
      },
      fixture.phase(.decisions, plus: 20 - first) { try fixture.delay(10, id: "e1", after: 60) },
      fixture.deciding(20) {
        let next = try skip(log, at: place, fixture).next
        #expect(next == place + 1)
      })
    #expect(done)
    let before = Counts(fixture)
    #expect(Counts.isOnce(before.stopped) && Counts.isOnce(before.taken))
    #expect(try fixture.run(fixture.deciding(40) { try fixture.delay(60, id: "e2", after: 300) }))
    let decisions = try fixture.decisions().values
    #expect(decisions.count == 40)
    #expect(decisions.allSatisfy { $0.reason == .emitted })
    #expect(Counts(fixture) == before)
  }

  /// A record of `rouse.state` that no release writes.
  enum Foreign: CaseIterable {
    /// A chunk of devices, which the restore reads at once.
    case chunk
    /// A chunk of devices, by a newer release.
    case newerChunk
    /// The record of a kind, which the restore reads at the end.
    case kind
    /// A chunk of notes with a number that no chunk has.
    case notes
  }

  @Test(
    "a partition whose state cannot be read stops alone, and goes on without the record when an operator orders so",
    arguments: Foreign.allCases)
  func state(foreign: Foreign) throws {
    let fixture = try PipelineFixture()
    let state = fixture.settings.topics.state
    let first = (0..<20).filter { DevicePartitioner.partition(of: "d\($0)", count: 2) == 0 }
    #expect(try fixture.run(fixture.registering(20)))
    let (key, value): (String, [UInt8]) =
      switch foreign {
      case .chunk: ("c/7fff", [0, 1, 2])
      case .newerChunk: ("c/7fff", [0x7f, 1, 2])
      case .kind: ("k/FlightStatus", [0])
      case .notes: ("n/7fff", [0])
      }
    let place = try fixture.append(state, partition: 0, key: key, value: value)
    let done = try fixture.run(
      fixture.phase(.partitionsStopped, plus: 1),
      fixture.phase(.decisions, plus: 20 - first.count) { try fixture.delay(10, id: "e1", after: 60) },
      fixture.deciding(20) {
        let skip = try skip(state, at: place, fixture)
        let content = foreign == .kind ? "FlightStatus" : foreign == .notes ? "notes" : "some devices"
        #expect(skip.loss?.contains(content) == true)
      })
    #expect(done)
    let before = Counts(fixture)
    #expect(Counts.isOnce(before.stopped) && Counts.isOnce(before.taken))
    #expect(
      try fixture.run(fixture.deciding(40) { try fixture.delay(60, id: "e2", after: 300) }),
      "the record is removed from the topic, so a restart needs no order")
    let decisions = try fixture.decisions().values
    #expect(decisions.count == 2 * 20)
    #expect(decisions.allSatisfy { $0.reason == .emitted })
    #expect(Counts(fixture) == before)
  }

  @Test("a replaced record of the state stops nothing, and one without which nothing can be planned has no order")
  func replacedState() throws {
    let fixture = try PipelineFixture()
    let state = fixture.settings.topics.state
    #expect(try fixture.run(fixture.registering(20)))
    for key in ["c/7fff", "k/FlightStatus", "n/7fff", "n/x", "c/x", "c/7fff", "d/d1"] {
      try fixture.append(state, partition: 0, key: key, value: [0, 1, 2])
      try fixture.append(state, partition: 0, key: key, value: nil)
    }
    let first = DevicePartitioner.partition(of: "d1", count: 2) == 0 ? 1 : 0
    #expect(
      try fixture.run(fixture.phase(.decisions, plus: 20 - first) { try fixture.delay(10, id: "e1", after: 60) }))
    #expect(fixture.counters[.partitionsStopped] == 0)
    let place = try fixture.append(state, partition: 0, key: "p/position", value: [0])
    #expect(
      try fixture.run(
        fixture.phase(.partitionsStopped, plus: 1) {
          #expect(throws: KafkaError.self) { try skip(state, at: place, fixture) }
        }))
  }

  @Test("the audit passes over a batch that cannot be unpacked, and keeps the position behind it")
  func audit() throws {
    let fixture = try fixture()
    let topic = fixture.settings.topics.decisions
    let sink = PositionSink()
    let end: Int64 = 2
    let done = try fixture.run(
      roles: [], sink: sink,
      PipelineFixture.Phase(
        publish: { try fixture.publish(topic, key: "x", value: [0x20]) }, until: { sink.next.values.contains(1) }),
      fixture.phase(.unreadableBatches, plus: 1) {
        let partition = sink.next.first { $0.value == 1 }?.key ?? 0
        try appendBatch(topic, partition: partition, fixture)
      },
      PipelineFixture.Phase(
        publish: {
          let partition = sink.next.first { $0.value == 1 }?.key ?? 0
          let skips = Skips(settings: fixture.settings.cluster, state: .planner)
          try skips.give(
            skips.find(
              at: KafkaPosition(KafkaTopicPartition(topic: topic, partition: partition), offset: 1)))
        }, until: { sink.next.values.contains(end) }),
      PipelineFixture.Phase(
        publish: { try fixture.publish(topic, key: "x", value: [0x20]) },
        until: { sink.next.values.contains(end + 1) }))
    #expect(done)
  }
}

/// Keeps the positions of the decisions.
private final class PositionSink: DecisionSink, Sendable {
  private let kept = Mutex<[Int32: Int64]>([:])

  var next: [Int32: Int64] { kept.withLock { $0 } }
  func positions() throws -> [AuditPosition] { [] }
  func store(_ batch: [AuditRecord], positions: [AuditPosition]) throws {
    kept.withLock { kept in
      for position in positions where position.topic == .decisions { kept[position.partition] = position.next }
    }
  }
  func idle() throws {}
}
