import Domain
import KafkaClient
import Policies
import Testing

@testable import Installation
@testable import Operating
@testable import Pipeline
@testable import Planning

/// The measuring of compacted topics, on the simulated broker, whose cleaner runs when a test says so.
@Suite("measuring compacted topics") struct CompactionCheckTests {
  private let broker = SimulatedBroker()
  private let settings = ClusterSettings(
    kafka: [:], topics: TopicNames(), eventTopics: [], group: "rouse")
  private let process: SimulatedProcess
  private let clock: SimulatedClock

  init() {
    process = SimulatedProcess(name: "check", broker: broker)
    clock = SimulatedClock(process: process)
    broker.createTopic("rouse.state", partitions: 2)
    broker.createTopic("rouse.devices", partitions: 2)
  }

  /// A planner of some devices, and the records of its first commit and of one after.
  private static func commits(devices: Int) -> [[(key: [UInt8], value: [UInt8]?)]] {
    var planner = Planner(policy: .none, bounds: PlannerBounds())
    return (0..<2).map { commit in
      for number in 0..<devices {
        let registration = Registration(
          device: Identifier("d\(number)"), app: "a", environment: .production, platform: "iOS",
          osVersion: OSVersion(major: 26), timeZone: "UTC", updatedAt: Timestamp(milliseconds: Int64(commit + 1)))
        var output = PlannerOutput()
        planner.begin(
          .registration(registration), offset: Int64(commit * devices + number),
          timestamp: Timestamp(milliseconds: Int64(commit + 1)))
        while !planner.advance(into: &output) {}
      }
      var records: [(key: [UInt8], value: [UInt8]?)] = []
      planner.takeChanges { records.append((Array($0), $1.map { Array($0) })) }
      return records
    }
  }

  private func append(
    _ topic: String, _ partition: Int32, _ key: [UInt8], _ value: [UInt8]?, ageMinutes: Int64
  ) throws {
    let log = try #require(broker.log(KafkaTopicPartition(topic: topic, partition: partition)))
    _ = log.append(
      SimulatedLog.Record(
        offset: 0, timestampMilliseconds: broker.time.brokerMilliseconds - ageMinutes * 60_000, key: key, value: value,
        headers: [], producer: 0, standing: .committed))
  }

  private func measure() throws -> [CompactedTopic] {
    let check = CompactionCheck(settings: settings, state: .planner, cluster: process, clock: clock)
    return try check.measure(
      ["rouse.state", "rouse.devices"].map { .init(name: $0, partitions: [0, 1], segmentBytes: 1000) })
  }

  @Test("topics without records have no size, and nothing is reported")
  func empty() throws {
    let topics = try measure()
    #expect(topics.map(\.bytes) == [0, 0])
    #expect(topics.flatMap(\.problems).isEmpty)
    #expect(topics[0].livingBytes == nil)
  }

  @Test("a topic that the cleaner never cleans is reported, and one that it cleans is not")
  func cleaned() throws {
    let (devices, repeats) = (30, 40)
    let commits = Self.commits(devices: devices)
    for commit in 0..<repeats {
      // Old versions, which no clock counts; then the newest.
      for record in commits[commit < repeats - 1 ? 0 : 1] {
        try append("rouse.state", 0, record.key, record.value, ageMinutes: 90)
      }
      try append("rouse.state", 0, Array("p/position".utf8), [1], ageMinutes: 90)
      for number in 0..<devices {
        let key = Array("d\(number)".utf8)
        try append("rouse.devices", Int32(number % 2), key, key + [UInt8](repeating: 0, count: 300), ageMinutes: 90)
      }
    }
    for record in commits[1] { try append("rouse.state", 1, record.key, record.value, ageMinutes: 1) }
    let before = try measure()
    let clock = try StateExtent(clock: try #require(commits[1].last { $0.key == StateKey.clock }?.value))
    #expect(before[0].parts.map(\.livingBytes) == [clock.bytes, clock.bytes])
    // Both partitions state all devices here.
    let living = before[1].parts.map(\.livingBytes)
    #expect(abs((living[0] ?? 0) - Int64(2 * devices) * before[1].bytes / before[1].records) < 2 && living.count == 1)
    #expect(before[0].problems.map(\.what) == ["compaction of partition 0"])
    #expect(before[1].problems.map(\.what) == ["compaction"])
    #expect(before[0].parts[1].settledBytes == 0)
    for topic in ["rouse.state", "rouse.devices"] {
      for partition in 0..<2 as Range<Int32> {
        let log = try #require(broker.log(KafkaTopicPartition(topic: topic, partition: partition)))
        _ = log.compact(now: 0, tombstonesKept: 0)
      }
    }
    let after = try measure()
    #expect(after.flatMap(\.problems).isEmpty)
    #expect(after[0].bytes < before[0].bytes / 4 && after[1].bytes < before[1].bytes / 4)
    #expect(after[0].livingBytes == before[0].livingBytes)
  }

  @Test("the newest clock is found behind many records of transactions that were aborted")
  func aborted() throws {
    let commits = Self.commits(devices: 3)
    for record in commits[0] { try append("rouse.state", 0, record.key, record.value, ageMinutes: 0) }
    let log = try #require(broker.log(KafkaTopicPartition(topic: "rouse.state", partition: 0)))
    for _ in 0..<3000 {
      _ = log.append(
        SimulatedLog.Record(
          offset: 0, timestampMilliseconds: 0, key: [1], value: [1], headers: [], producer: 9, standing: .open))
    }
    log.end(producer: 9, .aborted, timestampMilliseconds: 0)
    #expect(try measure()[0].parts[0].livingBytes ?? 0 > 0)
  }

  @Test("through librdkafka, many windows of several partitions are read, and the newest clocks are found")
  func embedded() throws {
    let ground = try ContractGround(.embedded)
    let settings = ClusterSettings(
      kafka: ["bootstrap.servers": ground.servers], topics: TopicNames(prefix: ground.prefix), eventTopics: [],
      group: "rouse")
    let state = try ground.topic("state", partitions: 3)
    let producer = try ground.producer()
    let clock = try #require(Self.commits(devices: 5)[1].last { $0.key == StateKey.clock })
    for partition in 0..<2 as Range<Int32> {
      for number in 0..<5000 {
        let bytes = [UInt8](repeating: UInt8(number % 251), count: 200 + number % 100)
        try producer.send(
          KafkaRecord(topic: state, partition: partition, key: Array("c/\(number)".utf8), value: bytes))
      }
      try producer.send(KafkaRecord(topic: state, partition: partition, key: clock.key, value: clock.value))
    }
    try producer.flushAll()
    let check = CompactionCheck(settings: settings, state: .planner, cluster: RealCluster(), clock: SystemClock())
    let measured = try check.measure([.init(name: state, partitions: [0, 1, 2], segmentBytes: 1 << 20)])
    let topic = try #require(measured.first)
    let living = try StateExtent(clock: clock.value ?? []).bytes
    #expect(topic.parts.map(\.livingBytes) == [living, living, nil])
    #expect(topic.parts.map(\.records) == [5001, 5001, 0])
    #expect(topic.parts[0].bytes > 5000 * 300 && topic.parts[0].bytes < 5000 * 340)
    #expect(topic.parts.map(\.settledBytes) == [0, 0, 0])
    #expect(topic.unmeasured.isEmpty)
  }
}
