import Domain
import KafkaClient
import Logging
import Policies

@testable import Installation
@testable import Pipeline

/// The real intake, planner workers and audit feed on a simulated cluster, clock and disk. The seed decides which stage
/// works next and which fault hits it. After the faults everything heals and is drained; then the checkers read the topics.
final class PipelineRun: Fate {
  let scenario: Scenario
  let broker = SimulatedBroker()
  let disk = SimulatedDisk()
  let audit = SimulatedAudit()
  let counters = PipelineCounters()
  let story: Story
  let initialPolicy: Policy
  private let policies: [PolicyDocument]
  private(set) var traffic: Traffic
  private var random: SeededRandom
  private var actors: [SimulatedStage] = []
  private var isHealing = false
  private var depth = 0
  /// The number of times that each thing happened.
  private(set) var coverage: [String: Int] = [:]
  /// The failures found while it ran.
  var findings: [String] = []
  private(set) var steps = 0
  /// The permissions that the calls of each stage needed, if they are to be noted.
  var access: [Role: AccessRecorder.Notes] = [:]
  private var memory: MemoryCheck
  private static let depthMax = 3

  init(_ scenario: Scenario, story: Story = Story(isKept: false)) throws {
    self.scenario = scenario
    self.story = story
    memory = MemoryCheck(scenario)
    policies = try Self.documents.get()
    initialPolicy = policies[scenario.firstPolicy].policy
    random = SeededRandom(seed: scenario.seed, stream: 3)
    traffic = Traffic(scenario, broker: broker)
    let topics = scenario.settings.topics
    for name in topics.all {
      broker.createTopic(name, partitions: scenario.partitions, appendTime: name == topics.log)
    }
    broker.createTopic(Scenario.prefix + "events", partitions: Scenario.eventPartitions)
    if scenario.refusesSome {
      let refused = Array(Scenario.refusedPrefix.utf8)
      broker.refusal = { message in
        let isAbout = message.topic == topics.decisions && message.value?.contains(refused) == true
        return isAbout ? .messageTooLarge : nil
      }
    }
    for number in 0..<scenario.intakes { actors.append(IntakeStage(name: "intake-\(number)", run: self)) }
    for number in 0..<scenario.planners { actors.append(PlannerStage(number: number, run: self)) }
    if scenario.hasAudit { actors.append(AuditStage(name: "audit", run: self)) }
  }

  /// The policies, parsed once: parsing takes longer than many a run.
  private static let documents = Result {
    try Scenario.policies.map { try PolicyDocument(yaml: $0, file: "policy.yaml") }
  }

  /// The text of the policy with an index in `Scenario.policies`.
  static func policyText(_ index: Int) throws -> String { try documents.get()[index].text }
  static func policy(hash: Identifier) throws -> Policy? { try knownPolicies().first { $0.reference.hash == hash } }
  static func knownPolicies() throws -> [Policy] { try documents.get().map(\.policy) }

  /// Returns the cluster as a stage is to see it.
  func cluster(_ process: SimulatedProcess, as role: Role) -> any Cluster {
    access[role].map { AccessRecorder(process, $0) } ?? process
  }

  // MARK: The run

  func run() {
    // Planners take long to parse a policy record, so a run without policy changes has none.
    if scenario.changesPolicy { applyPolicy(random.below(policies.count)) }
    var published = 0
    while published < scenario.publications {
      if random.chance(1, in: 6) {
        // Mostly one record at a time, sometimes many at once.
        for _ in 0..<(random.chance(1, in: 4) ? 2 + random.below(8) : 1) {
          traffic.publish()
          published += 1
        }
        story.add(broker.time.now, "published \(published)")
      } else {
        somethingHappens()
      }
    }
    for _ in 0..<60 { somethingHappens() }
    heal()
  }

  private func somethingHappens() {
    broker.pass(Int64(random.below(3000)))
    if scenario.faultsPerThousand > 0 { befall() }
    stepOne()
  }

  /// Causes a fault that comes from outside of the processes, or none.
  private func befall() {
    switch random.below(400) {
    case 0...2: compact()
    case 3...4: jump()
    case 5...6: rebalance()
    case 7: damageDisk()
    case 8...9: scale()
    case 10 where scenario.changesPolicy: applyPolicy(random.below(policies.count))
    case 11: broker.pass(Int64(random.below(30_000_000)))
    case 12: poison()
    default: break
    }
  }

  private func stepOne() {
    let ready = actors.filter { !$0.isWorking }
    guard !ready.isEmpty else { return broker.pass(10_000) }
    steps += 1
    ready[random.below(ready.count)].step()
  }

  private func compact() {
    let names = [scenario.settings.topics.state, scenario.settings.topics.state, scenario.settings.topics.devices]
    guard let topic = broker.topics[names[random.below(names.count)]] else { return }
    let gone = topic.logs[random.below(topic.logs.count)].compact(
      now: broker.time.now, tombstonesKept: broker.tombstonesKept)
    if gone > 0 { note("compaction") }
  }

  /// Makes one wall clock jump, forwards or backwards.
  private func jump() {
    let by = Int64(random.below(4_000_000_000)) - (random.chance(1, in: 2) ? 2_000_000_000 : 600_000_000)
    if random.chance(1, in: 2) {
      broker.time.brokerOffset += by
      note("broker clock jump")
    } else {
      actors[random.below(actors.count)].skew += by
      note("process clock jump")
    }
  }

  private func rebalance() {
    broker.group("\(scenario.settings.group)-\(random.chance(2, in: 3) ? "planner" : "intake")").rebalance()
    note("rebalance")
  }

  private func damageDisk() {
    let damage = SimulatedDisk.Damage.allCases[random.below(SimulatedDisk.Damage.allCases.count)]
    if disk.damage(damage, below: { self.below($0) }) { note("snapshot \(damage.rawValue)") }
  }

  /// Ends a process in order, or kills it between two turns. It comes back later.
  private func scale() {
    let actor = actors[random.below(actors.count)]
    guard !actor.isWorking else { return }
    if random.chance(1, in: 2) {
      note("ended in order")
      actor.end(downFor: Int64(random.below(20_000_000)))
    } else {
      note("killed at rest")
      actor.kill(downFor: Int64(random.below(5_000_000)))
    }
  }

  private func applyPolicy(_ index: Int) {
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .policy(document: policies[index].text)).encode(into: &bytes)
    for partition in 0..<scenario.partitions {
      broker.append(scenario.settings.topics.log, Int32(partition), key: nil, value: bytes)
    }
    note("policy applied")
  }

  /// Appends unreadable bytes to the log.
  private func poison() {
    let values = Poison.logValues
    let key = random.chance(1, in: 4) ? [UInt8](repeating: 0x78, count: 5000) : nil
    broker.append(
      scenario.settings.topics.log, Int32(random.below(scenario.partitions)), key: key,
      value: values[random.below(values.count)])
    note("poisoned record of the log")
  }

  // MARK: Healing

  private func heal() {
    isHealing = true
    story.add(broker.time.now, "healing")
    for actor in actors { actor.skew = 0 }
    drain()
    // Deferred events are decided when their timers are due. Only the wall clock moves on, so no member misses a heartbeat.
    for turn in 0..<5 where findings.isEmpty && (turn == 0 || actors.contains(where: \.isWaiting)) {
      // The first hour lets activities go quiet while they still live.
      broker.time.brokerOffset += (turn == 0 ? 1 : 30) * 3_600_000_000
      drain()
    }
    for actor in actors { actor.end(downFor: .max) }
    tellTheLog()
    countUp()
  }

  /// Adds the consequences of the faults to the coverage.
  private func countUp() {
    coverage["transactions timed out"] = broker.timedOutTransactions
    coverage["members expelled"] = broker.groups.values.reduce(0) { $0 + $1.expiries }
    coverage["static members came back"] = broker.groups.values.reduce(0) { $0 + $1.returns }
    coverage["snapshots written"] = disk.writes
    coverage["snapshots discarded"] = counters[.snapshotsDiscarded]
    coverage["state records restored from snapshots"] = counters[.snapshotRecordsRestored]
    coverage["transactions committed"] = counters[.transactionsCommitted]
    coverage["transactions aborted"] = counters[.transactionsAborted]
    coverage["log records passed over"] = counters[.logRecordsSkipped]
    coverage["duplicates dropped by intake"] = counters[.duplicatesDropped]
    coverage["pushes refused for good"] = traffic.refusals
    coverage["log records set aside"] = counters[.recordsSetAside]
    coverage["intake pauses"] = counters[.intakePauses]
    for (poison, count) in traffic.poisons { coverage["refused: \(poison.rawValue)"] = count }
  }

  private func tellTheLog() {
    guard story.isKept else { return }
    for topic in broker.topics.values.sorted(by: { $0.name < $1.name }) {
      for (partition, log) in topic.logs.enumerated() {
        for record in log.records where record.standing != .marker {
          let what = topic.name == scenario.settings.topics.log ? Self.words(record.value) : Self.text(record.value)
          let key = record.key.map { String(decoding: $0, as: UTF8.self) } ?? "-"
          story.add(
            broker.time.now,
            "\(topic.name)[\(partition)]@\(record.offset) \(record.timestampMilliseconds) \(record.standing) \(key): \(what)"
          )
        }
      }
    }
  }

  private static func text(_ value: [UInt8]?) -> String {
    value.map { String(decoding: $0, as: UTF8.self) } ?? "none"
  }

  private static func words(_ value: [UInt8]?) -> String {
    do {
      let record = try LogRecord(bytes: value ?? [])
      return "\(record.origin.map { "\($0.topic)[\($0.partition)]@\($0.offset)" } ?? "-") \(record.content)"
    } catch { return "\(error)" }
  }

  private func drain() {
    var quiet = 0
    var ends: [Int64] = []
    for turn in 1...4000 {
      actors[turn % actors.count].step()
      steps += 1
      broker.pass(5000)
      guard turn % actors.count == 0 else { continue }
      let now = logEnds
      quiet = now == ends && isPlanned ? quiet + 1 : 0
      ends = now
      if quiet == 8 { return }
    }
    findings.append("not drained: \(standing)")
  }

  private var logEnds: [Int64] {
    (broker.topics[scenario.settings.topics.log]?.logs ?? []).map(\.end)
  }

  /// Whether everything published is in the log, all of the log is planned, and no timer is due. The offsets of intake do not
  /// tell what it has read: after a failed commit they lag until the next one.
  private var isPlanned: Bool {
    guard broker.openTransactions == 0, actors.allSatisfy(\.isUp), !actors.contains(where: \.hasDueTimer) else {
      return false
    }
    let topics = scenario.settings.topics
    let processes = actors.compactMap(\.process)
    let audited = scenario.hasAudit ? [topics.decisions, topics.commands] : []
    for topic in [Scenario.prefix + "events", topics.devices, topics.signals] + audited {
      for partition in 0..<(broker.topics[topic]?.logs.count ?? 0) {
        let place = KafkaTopicPartition(topic: topic, partition: Int32(partition))
        guard processes.contains(where: { $0.hasRead(place) }) else { return false }
      }
    }
    let planned = broker.group("\(scenario.settings.group)-planner").offsets
    return actors.flatMap(\.planning).count == scenario.partitions && processes.allSatisfy(\.isIdle)
      && logEnds.enumerated().allSatisfy { partition, end in
        planned[KafkaTopicPartition(topic: topics.log, partition: Int32(partition)), default: 0] >= end
      }
  }

  private var standing: String {
    let groups = ["intake", "planner"].map { name in
      let group = broker.group("\(scenario.settings.group)-\(name)")
      let offsets = group.offsets.sorted { $0.key < $1.key }.map { "\($0.key)@\($0.value)" }
      return
        "\(name): generation \(group.generation), \(group.members.map { "\($0.id) \($0.share)" }), \(offsets), preparing \(group.isPreparing)"
    }
    let ends = broker.topics.values.sorted { $0.name < $1.name }.map { "\($0.name): \($0.logs.map(\.end))" }
    return
      "\(groups); ends \(ends); open \(broker.openTransactions); \(actors.map(\.standing)); timers due \(actors.map(\.hasDueTimer)), "
      + "queues empty \(actors.map { $0.process?.isIdle ?? true })"
  }

  /// Checks the memory of a planner after a turn.
  func census(_ partition: Int32, of processor: PartitionProcessor) {
    for overrun in memory.overruns(of: processor) { findings.append("partition \(partition) holds \(overrun)") }
  }

  // MARK: Fate

  func below(_ bound: Int) -> Int { random.below(bound) }

  func mishap(at call: PortCall, of process: SimulatedProcess) -> Mishap? {
    story.pass(broker.time.now)
    guard !isHealing, scenario.faultsPerThousand > 0, !scenario.mishaps.isEmpty else { return nil }
    // Frequent calls get few faults: most of their faults happen at the calls around them as well.
    let weight: Int
    switch call {
    case .send, .sleep: weight = 6000
    case .poll: weight = 3000
    // The commit itself gets the most faults of the planners' calls.
    case .initTransactions, .begin, .membership: weight = 200
    case .sendOffsets, .commit: weight = 130
    // More than the highest rate of faults: the feed retries for ever, so a store that always refuses would never end.
    case .auditPositions, .auditStore: weight = 110
    // Aborts are rare.
    case .abort: weight = 60
    default: weight = 1000
    }
    guard random.below(weight) < scenario.faultsPerThousand else { return nil }
    let possible = scenario.mishaps.filter { $0.mayHappen(at: call) }
    guard !possible.isEmpty else { return nil }
    let mishap = possible[random.below(possible.count)]
    note("\(mishap.rawValue) at \(call.rawValue)")
    if process.name.hasPrefix("planner") {
      coverage["\(mishap.rawValue) at \(call.rawValue) of a planner", default: 0] += 1
    }
    story.add(broker.time.now, "\(process.name): \(mishap.rawValue) at \(call.rawValue)")
    return mishap
  }

  func interrupt(_ process: SimulatedProcess, by mishap: Mishap) {
    guard depth < Self.depthMax else { return }
    depth += 1
    defer { depth -= 1 }
    switch mishap {
    case .overtaken: for _ in 0...random.below(6) { somethingHappens() }
    default:
      let session = max(scenario.session, random.chance(1, in: 2) ? scenario.transaction : 0)
      let end = broker.time.now + session / 2 + Int64(random.below(Int(session * 3 / 2)))
      process.isFrozen = mishap == .frozen
      var left = 150
      while broker.time.now < end, left > 0 {
        broker.pass(Int64(random.below(200_000)))
        stepOne()
        left -= 1
      }
      process.isFrozen = false
      // Either its own thread or its background threads wake up first.
      if random.chance(1, in: 2) { process.background() }
    }
  }

  func note(_ what: String) {
    coverage[what, default: 0] += 1
    story.add(broker.time.now, what)
  }
}
