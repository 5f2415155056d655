import Domain
import KafkaClient
import Testing

@testable import Installation
@testable import Pipeline

/// Several batches of intake under way at once: offsets follow deliveries, and order holds.
@Suite("the batches that intake has under way")
struct IntakeBatchesTests {
  private static let topic = "r.events"

  private static func partition(_ number: Int32) -> KafkaTopicPartition {
    KafkaTopicPartition(topic: topic, partition: number)
  }

  fileprivate static func event(_ offset: Int64, of partition: Int32 = 0) -> KafkaMessage {
    let json =
      #"{"specversion":"1.0","id":"e\#(partition)-\#(offset);","source":"/test","type":"t","subject":"s","#
      + #""time":"2026-07-01T12:00:00Z","data":{}}"#
    return KafkaMessage(
      topic: topic, partition: partition, offset: offset, timestampMilliseconds: 1_782_907_200_000, key: nil,
      value: Array(json.utf8))
  }

  private static func id(_ offset: Int64, of partition: Int32 = 0) -> String { "e\(partition)-\(offset);" }

  /// Makes a stage whose polls return so many records.
  private static func stage(_ partitions: Int32, poll: Int, _ change: (inout IntakeSettings) -> Void = { _ in })
    -> ScriptedStage
  {
    var stage = ScriptedStage(partitions: partitions)
    stage.settings.intake.pollRecordsMax = poll
    change(&stage.settings.intake)
    return stage
  }

  /// Makes batches of events of the first partition, with rising offsets from 0 on.
  private static func batches(_ count: Int, of records: Int) -> [KafkaBatch] {
    (0..<count).map { batch in
      KafkaBatch(messages: (0..<records).map { event(Int64(batch * records + $0)) })
    }
  }

  /// Starts intake and lets the broker answer for the first batch, whose first record is sent alone. After that the broker
  /// answers nothing.
  ///
  /// - Parameters:
  ///   - stage: The stage, whose cluster has the batches.
  ///   - turns: The turns of work without an answer.
  /// - Returns: Intake with batches under way. End it.
  private static func unanswered(_ stage: ScriptedStage, turns: Int) throws -> Intake {
    let intake = stage.makeIntake()
    try intake.start()
    try work(intake, turns: 1)
    stage.cluster.answers = { _ in 0 }
    try work(intake, turns: turns)
    return intake
  }

  private static func work(_ intake: Intake, turns: Int) throws {
    for _ in 0..<turns {
      try intake.workOnce()
      #expect(intake.checkInvariants() == [])
    }
  }

  @Test("are several, and one that is delivered before an older one leaves the offsets where they are")
  func several() throws {
    let stage = Self.stage(2, poll: 3)
    let (cluster, log) = (stage.cluster, stage.settings.topics.log)
    cluster.batches = Self.batches(4, of: 3)
    let intake = try Self.unanswered(stage, turns: 3)
    defer { intake.end() }
    #expect(intake.underway.list.count >= 3, "one batch does not wait for another")
    let committed = cluster.committed[Self.partition(0)]?.position.offset ?? 0
    // The broker answers for the second log partition only: no record is delivered to both.
    cluster.below = { $0 - 1 }
    cluster.answers = { _ in 1 }
    for _ in 0..<20 where cluster.taken.filter({ $0.topic == log && $0.partition == 1 }).count < 12 {
      try Self.work(intake, turns: 1)
      let delivered = try stage.planned(0).count
      #expect((cluster.committed[Self.partition(0)]?.position.offset ?? 0) <= max(committed, Int64(delivered)))
    }
    cluster.answers = { $0 }
    try Self.work(intake, turns: 3)
    #expect(cluster.committed[Self.partition(0)]?.position.offset == 12)
    for partition in 0..<2 as Range<Int32> { #expect(try stage.planned(partition).count == 12) }
  }

  @Test("a record is refused in the second of three: it becomes a letter, and all others are planned in order")
  func refusedInSecond() throws {
    let stage = Self.stage(2, poll: 3)
    let cluster = stage.cluster
    cluster.refusal = { $0.topic == "r.log" && $0.eventID == Self.id(4) ? .invalidRecord : nil }
    cluster.batches = Self.batches(3, of: 3)
    let intake = try Self.unanswered(stage, turns: 2)
    defer { intake.end() }
    #expect(intake.underway.list.count >= 2)
    cluster.answers = { $0 }
    try Self.work(intake, turns: 5)
    #expect(stage.letters.map { $0.header("rouse-origin-offset") } == ["4"])
    let others = (0..<9).filter { $0 != 4 }.map { Identifier(Self.id($0)) }
    for partition in 0..<2 as Range<Int32> { #expect(try stage.planned(partition) == others) }
    #expect(cluster.committed[Self.partition(0)]?.position.offset == 9)
    #expect(stage.counters[.eventsAccepted] == 9)
  }

  @Test("memory is bounded: intake pauses at the bound of batches, of log records in flight and of bytes")
  func bounded() throws {
    let changes: [(inout IntakeSettings) -> Void] = [
      { $0.batchesUnderwayMax = 4 }, { $0.recordsInFlightMax = 20 }, { $0.bytesUnderwayMax = 3000 },
    ]
    for (number, change) in changes.enumerated() {
      let stage = Self.stage(2, poll: 5, change)
      let cluster = stage.cluster
      cluster.batches = Self.batches(40, of: 5)
      let intake = try Self.unanswered(stage, turns: 40)
      defer { intake.end() }
      #expect(stage.counters[.intakePauses] == 1, "case \(number)")
      #expect(cluster.queuedMost <= 60, "case \(number): \(cluster.queuedMost)")
      #expect(intake.underway.list.count <= 6, "case \(number): \(intake.underway.list.count)")
      cluster.answers = { $0 }
      try Self.work(intake, turns: 80)
      #expect(cluster.committed[Self.partition(0)]?.position.offset == 200, "case \(number)")
      #expect(try stage.planned(1).count == 200, "case \(number)")
    }
  }

  @Test("a partition that is taken away keeps the offset of its next owner")
  func revoked() throws {
    let stage = Self.stage(1, poll: 2)
    let cluster = stage.cluster
    cluster.batches = [
      KafkaBatch(messages: [Self.event(0), Self.event(0, of: 1)]),
      KafkaBatch(messages: [Self.event(1), Self.event(1, of: 1)]),
    ]
    let intake = try Self.unanswered(stage, turns: 1)
    defer { intake.end() }
    #expect(!intake.underway.isEmpty)
    cluster.revoke([Self.partition(0)])
    // The next owner reads on.
    cluster.committed[Self.partition(0)] = KafkaCommittedOffset(
      KafkaPosition(Self.partition(0), offset: 9), metadata: "")
    cluster.answers = { $0 }
    try Self.work(intake, turns: 2)
    #expect(intake.underway.isEmpty)
    #expect(cluster.committed[Self.partition(0)]?.position.offset == 9)
    #expect(cluster.committed[Self.partition(1)]?.position.offset == 2)
    #expect(try stage.planned().count == 4)
  }

  @Test("a partition that is taken away in order is committed as far as it is delivered within a second")
  func revokedInOrder() throws {
    let stage = Self.stage(1, poll: 2)
    let cluster = stage.cluster
    cluster.batches = Self.batches(3, of: 2)
    let intake = try Self.unanswered(stage, turns: 2)
    defer { intake.end() }
    cluster.answers = { $0 }
    cluster.revoke([Self.partition(0)])
    #expect(cluster.committed[Self.partition(0)]?.position.offset == 6)
    #expect(intake.checkInvariants() == [])
  }

  @Test("an orderly stop delivers and commits all of them; one that the broker leaves waiting ends after 4 s")
  func stop() throws {
    for answers in [true, false] {
      let stage = Self.stage(2, poll: 2)
      let cluster = stage.cluster
      cluster.batches = Self.batches(5, of: 2)
      let intake = try Self.unanswered(stage, turns: 4)
      #expect(intake.underway.list.count >= 4)
      if answers { cluster.answers = { $0 } }
      let began = stage.clock.elapsed
      try intake.finish()
      intake.end()
      let committed = cluster.committed[Self.partition(0)]?.position.offset ?? 0
      if answers {
        #expect(committed == 10)
      } else {
        #expect(committed <= 2)
        #expect(stage.clock.elapsed - began < .seconds(5))
      }
    }
  }

  @Test(
    "offsets never pass an undelivered record, and order holds, whatever the broker answers and refuses",
    arguments: 0..<100)
  func property(seed: UInt64) throws {
    var run = try RandomRun(seed: seed)
    try run.run()
    #expect(run.findings == [], "seed \(seed)")
  }
}

/// A run of intake on a broker that answers, refuses and loses batches by a seed, with crashes and rebalances.
private struct RandomRun {
  private let stage: ScriptedStage
  private let random: Dice
  private let partitions: Int32
  private let refused: Set<String>
  private var records: [KafkaMessage] = []
  private var next: [Int32: Int64] = [:]
  private let found = Findings()
  private static let topic = "r.events"

  var findings: [String] { found.texts }

  private final class Dice {
    private var random: SeededRandom
    init(_ seed: UInt64) { random = SeededRandom(seed: seed, stream: 7) }
    func below(_ bound: Int) -> Int { random.below(bound) }
  }

  private final class Findings {
    var texts: [String] = []
    /// The ids of the events that each log partition has.
    private var arrived: [Int32: Set<String>] = [:]
    private var letters: Set<String> = []
    private var examined = 0

    /// Checks that every record before a committed offset is in each log partition, or is a dead letter.
    func check(_ cluster: ScriptedCluster, _ partitions: Int32, refused: Set<String>) {
      for message in cluster.taken[examined...] {
        if message.topic == "r.log" {
          arrived[message.partition, default: []].insert(message.eventID ?? "")
        } else {
          let (partition, offset) = (message.header("rouse-origin-partition"), message.header("rouse-origin-offset"))
          letters.insert("e\(partition ?? "")-\(offset ?? "");")
        }
      }
      examined = cluster.taken.count
      for (partition, committed) in cluster.committed {
        for offset in 0..<committed.position.offset {
          let id = "e\(partition.partition)-\(offset);"
          if refused.contains(id) {
            if !letters.contains(id) { texts.append("\(id) has no letter, and its offset was committed") }
            continue
          }
          for target in 0..<partitions where arrived[target]?.contains(id) != true {
            texts.append("\(id) is not in log partition \(target), and its offset was committed")
          }
        }
      }
    }
  }

  init(seed: UInt64) throws {
    let dice = Dice(seed)
    random = dice
    partitions = Int32(1 + dice.below(3))
    var stage = ScriptedStage(partitions: partitions)
    stage.settings.intake.pollRecordsMax = 1 + dice.below(6)
    stage.settings.intake.batchesUnderwayMax = 1 + dice.below(6)
    stage.settings.intake.recordsInFlightMax = 1 + dice.below(40)
    stage.settings.intake.bytesUnderwayMax = 500 + dice.below(8000)
    self.stage = stage
    var refused: Set<String> = []
    for offset in 0..<40 where dice.below(15) == 0 { refused.insert("e\(dice.below(2))-\(offset);") }
    self.refused = refused
    let cluster = stage.cluster
    cluster.batchRecordsMax = 1 + dice.below(4)
    cluster.below = { dice.below($0) }
    cluster.answers = { dice.below($0 + 1) }
    cluster.refusal = { message in
      guard message.topic == "r.log" else { return nil }
      return refused.contains(message.eventID ?? "") ? .invalidRecord : nil
    }
    for partition in 0..<2 as Range<Int32> {
      for offset in 0..<40 as Range<Int64> { records.append(IntakeBatchesTests.event(offset, of: partition)) }
    }
    cluster.stored = records
  }

  mutating func run() throws {
    let (stage, found, partitions, refused) = (stage, found, partitions, refused)
    let cluster = stage.cluster
    cluster.onCommit = { [unowned cluster] in found.check(cluster, partitions, refused: refused) }
    for attempt in 0..<200 {
      let intake = stage.makeIntake()
      try intake.start()
      next = [:]
      for partition in 0..<2 as Range<Int32> {
        let committed = cluster.committed[KafkaTopicPartition(topic: Self.topic, partition: partition)]
        next[partition] = committed?.position.offset ?? 0
      }
      let isLast = attempt > 3
      var turns = isLast ? 2000 : random.below(40)
      while turns > 0, !isDone {
        turns -= 1
        if random.below(30) == 0, !isLast { rebalance() }
        if cluster.batches.isEmpty { poll() }
        do {
          try intake.workOnce()
        } catch {
          // Only a producer that has ended may end intake.
          if case .kafka(let error) = error, error.code == .gaplessGuarantee || error.code == .outOfOrderSequence {
            break
          }
          found.texts.append("\(error)")
        }
        found.texts += intake.checkInvariants()
      }
      cluster.batches = []
      intake.end()
      if isDone { break }
    }
    if !isDone { found.texts.append("not everything was committed: \(cluster.committed.mapValues(\.position.offset))") }
    try checkPlan()
  }

  private var isDone: Bool {
    (0..<2).allSatisfy {
      stage.cluster.committed[KafkaTopicPartition(topic: Self.topic, partition: $0)]?.position.offset == 40
    }
  }

  /// Lets the next poll return records of both partitions, in runs.
  private mutating func poll() {
    var messages: [KafkaMessage] = []
    for _ in 0..<(1 + random.below(3)) {
      let partition = Int32(random.below(2))
      let start = next[partition] ?? 0
      let end = min(40, start + Int64(1 + random.below(3)))
      messages += records.filter { $0.partition == partition && $0.offset >= start && $0.offset < end }
      next[partition] = end
    }
    stage.cluster.batches = [KafkaBatch(messages: messages)]
  }

  /// Takes a partition away and gives it back, to be read from its committed offset.
  private mutating func rebalance() {
    let number = Int32(random.below(2))
    let partition = KafkaTopicPartition(topic: Self.topic, partition: number)
    guard stage.cluster.assigned.contains(partition) else { return }
    stage.cluster.revoke([partition])
    // A poll that was to return records of the other partition returns them later.
    for message in stage.cluster.batches.flatMap(\.messages).reversed() where message.partition != number {
      next[message.partition] = message.offset
    }
    stage.cluster.batches = []
    stage.cluster.assign([partition])
    next[number] = stage.cluster.committed[partition]?.position.offset ?? 0
  }

  /// Checks that planners take every record that is not refused, in the order of its source partition.
  private func checkPlan() throws {
    for target in 0..<partitions {
      let planned = try stage.planned(target)
      for partition in 0..<2 as Range<Int32> {
        let ids = planned.filter { $0.text.hasPrefix("e\(partition)-") }.map(\.text)
        let expected = (0..<40).map { "e\(partition)-\($0);" }.filter { !refused.contains($0) }
        if ids != expected {
          found.texts.append("log partition \(target) plans \(ids) of source partition \(partition)")
        }
      }
    }
  }
}

extension KafkaMessage {
  /// The id of the event of a log record; nil if it has none.
  fileprivate var eventID: String? {
    do throws(BinaryError) {
      guard case .event(let event) = try LogRecord(bytes: value ?? []).content else { return nil }
      return event.id.text
    } catch { return nil }
  }
}
