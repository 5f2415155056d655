import Domain
import JSON
import KafkaClient
import Planning
import Policies
import Verification

@testable import Installation
@testable import Operating
@testable import Pipeline

/// Checks the guarantees of the pipeline on the records that committed readers find in the topics when everything is
/// drained. Guarantee 6, bounded memory, is checked while the pipeline works: `MemoryCheck`.
struct Checks {
  private let run: PipelineRun
  private var topics: TopicNames { run.scenario.settings.topics }
  private(set) var findings: [String] = []
  private(set) var decisions = 0
  private(set) var commands = 0
  /// The number of emits to each surface and of charges to each ledger.
  private(set) var coverage: [String: Int] = [:]
  private static let findingsMax = 12

  init(_ run: PipelineRun) throws {
    self.run = run
    findings = run.findings
    // Topics that are not drained differ for that reason alone.
    guard findings.isEmpty else { return }
    var references: [ReferencePlanner] = []
    let letters = all(topics.deadLetters).map { DeadLetterRecord($0) }
    let setAside = Set(letters.filter { $0.reason == "SET_ASIDE" }.compactMap(\.origin))
    for partition in 0..<run.scenario.partitions {
      let reference = ReferencePlanner(partition: Int32(partition), of: run.scenario, policy: run.initialPolicy)
      for message in run.broker.committed(topics.log, partition) {
        let place = KafkaPosition(message.topicPartition, offset: message.offset)
        reference.take(message, isSetAside: setAside.contains(place))
      }
      references.append(reference)
    }
    blocksAreWhole()
    try ledgers()
    nothingIsLost(references)
    nothingElseIsSetAside(references)
    try everythingIsDecided(references)
    outputIsThatOfOnePlanner(references)
    if run.scenario.hasAudit { auditIsWhole() }
    do { try stateIsThatOfOnePlanner(references) } catch let error as BinaryError {
      found("the state does not restore: \(error)")
    } catch let error as StateRecordError {
      found("the state does not restore: \(error)")
    }
  }

  private mutating func found(_ what: @autoclosure () -> String) {
    if findings.count < Self.findingsMax { findings.append(what()) }
  }

  private func all(_ topic: String) -> [KafkaMessage] {
    (0..<(run.broker.topics[topic]?.logs.count ?? 0)).flatMap { run.broker.committed(topic, $0) }
  }

  /// The decisions of a partition, one message for each: with the bytes of its line, and with the partition and the offset of its
  /// block.
  private func decisions(_ partition: Int) -> [KafkaMessage] {
    run.broker.committed(topics.decisions, partition).flatMap { message in
      DecisionBlock(message).documents.map {
        KafkaMessage(topic: message.topic, partition: message.partition, offset: message.offset, value: $0)
      }
    }
  }

  private var decisionLines: [KafkaMessage] {
    (0..<(run.broker.topics[topics.decisions]?.logs.count ?? 0)).flatMap { decisions($0) }
  }

  /// Checks that blocks have the form that `DecisionBlock` states.
  private mutating func blocksAreWhole() {
    let bytesMax = run.scenario.settings.planner.decisionBlockBytesMax
    for message in all(topics.decisions) {
      let block = DecisionBlock(message)
      let lines = block.documents
      let place = "the block \(message.topicPartition)@\(message.offset)"
      if let contradiction = block.contradiction(lines: lines.count) { found("\(place): \(contradiction)") }
      if lines.count > 1, block.bytes.count > bytesMax { found("\(place) has \(block.bytes.count) bytes") }
      if message.key != nil { found("\(place) has a key") }
      for line in lines where Self.id(line)?.partition != Int(message.partition) {
        found("\(place) holds \(Self.idText(line) ?? "no id")")
      }
    }
  }

  /// Checks guarantee 1: no ledger is overspent. Recomputes every ledger from decisions and commands alone, with two
  /// exceptions. Only the planner knows an app's share of the day; the check is that it never rises within a day, and never
  /// falls by more than was charged. And if tokens are refunded for refused pushes, a day's number is checked as far as
  /// refunds allow. A broadcast channel has no ledger.
  private mutating func ledgers() throws {
    var limits: [Identifier: LedgerLimits] = [:]
    for policy in try PipelineRun.knownPolicies() { limits[policy.reference.hash] = LedgerLimits(policy) }
    var check = LedgerCheck(limits: limits, refundsAllowed: run.scenario.refunds)
    for message in decisionLines {
      check.add(decision: message.value ?? [], place: "\(message.topicPartition)@\(message.offset)")
      decisions += 1
    }
    let reader = JSONReader(bytesMax: DomainBounds.recordBytesMax, nestingMax: DomainBounds.nestingMax)
    for message in all(topics.commands) {
      check.add(command: message.value ?? [], place: "\(message.topicPartition)@\(message.offset)")
      commands += 1
      note(try Command(json: message.value ?? [], reader: reader))
    }
    let report = try check.finish()
    if report.violationCount > 0 { found("ledgers: \(report.text)") }
    if report.repeatedDecisions > 0 || report.repeatedCommands > 0 {
      found("\(report.repeatedDecisions) decisions and \(report.repeatedCommands) commands are there twice")
    }
    if report.open > 0 { found("\(report.open) events wait for ever") }
  }

  private mutating func note(_ command: Command) {
    for charge in command.charged { coverage["charged: \(charge.ledger.rawValue)", default: 0] += 1 }
    if command.charged.isEmpty, command.surface != .broadcast {
      coverage["emitted free of charge: \(command.surface.rawValue)", default: 0] += 1
    }
    if command.serves.first?.reason == .endedQuiet { coverage["emitted: end after a silence", default: 0] += 1 }
    if command.serves.first?.reason == .caughtUp { coverage["emitted: without an event", default: 0] += 1 }
    var surface = command.surface.rawValue
    if command.surface == .liveActivity || command.surface == .broadcast {
      let event = ["start", "update", "end"].first { command.apns.payload.contains("\"event\":\"\($0)\"") }
      let priority = command.apns.headers.first { $0.name == "apns-priority" }?.value
      surface += " \(event ?? "of no event") at priority \(priority ?? "none")"
    }
    coverage["emitted: \(surface)", default: 0] += 1
  }

  /// Checks that every public record is in the log or among the dead letters, except for events and signals that were sent twice.
  private mutating func nothingIsLost(_ references: [ReferencePlanner]) {
    let logged = references.reduce(into: Set<Origin>()) { $0.formUnion($1.origins) }
    var letters: [String: Int] = [:]
    for message in all(topics.deadLetters) {
      if let origin = DeadLetterRecord(message).origin { letters["\(origin)", default: 0] += 1 }
    }
    // Planners write dead letters in their transactions, so each is there once.
    for place in references.flatMap({ $0.unreadable + $0.setAside }) where letters["\(place)"] != 1 {
      found("\(letters["\(place)"] ?? 0) dead letters tell of \(place)")
    }
    var (idsLogged, signalsLogged): (Set<Identifier>, Set<Identifier>) = ([], [])
    for sent in run.traffic.sent {
      let origin = Origin(
        topic: sent.place.partition.topic, partition: sent.place.partition.partition, offset: sent.place.offset)
      switch sent.kind {
      case .event(let id) where logged.contains(origin): idsLogged.insert(id)
      case .signal(let id) where logged.contains(origin): signalsLogged.insert(id)
      default: break
      }
    }
    for sent in run.traffic.sent {
      let origin = Origin(
        topic: sent.place.partition.topic, partition: sent.place.partition.partition, offset: sent.place.offset)
      if case .device(let channels) = sent.kind, logged.contains(origin) {
        for channel in channels where !isTold(channel, references) {
          found("\(channel.device) is not told of \(sent.place)")
        }
      }
      switch sent.kind {
      case .unreadable:
        if isThere(sent.place), letters["\(sent.place)"] == nil { found("no dead letter tells of \(sent.place)") }
      case .event(let id):
        if !idsLogged.contains(id) { found("event \(id) at \(sent.place) is not in the log") }
        if logged.contains(origin), let missing = references.firstIndex(where: { !$0.origins.contains(origin) }) {
          found("event \(id) at \(sent.place) is not in partition \(missing) of the log")
        }
      case .signal(let id):
        if !signalsLogged.contains(id) { found("signal \(id) at \(sent.place) is not in the log") }
      case .device, .forgotten:
        if isThere(sent.place), !logged.contains(origin) { found("\(sent.place) is not in the log") }
      }
    }
  }

  /// Checks that only records with refused output were set aside.
  private mutating func nothingElseIsSetAside(_ references: [ReferencePlanner]) {
    for place in references.flatMap(\.wronglySetAside) { found("\(place) was set aside, and nothing refuses it") }
  }

  /// Whether an activity that listens to a channel was announced to the channel's partition: by this device, or by another
  /// one that registered the same.
  private func isTold(_ channel: Registration, _ references: [ReferencePlanner]) -> Bool {
    let partition = Int(DevicePartitioner.partition(of: channel.device, count: Int32(run.scenario.partitions)))
    return references[partition].channels.contains {
      $0.device == channel.device && $0.activities == channel.activities
    }
  }

  /// Whether the record is still in its topic: compaction may have been faster than intake.
  private func isThere(_ place: KafkaPosition) -> Bool {
    run.broker.log(place.partition)?.records.contains { $0.offset == place.offset } ?? false
  }

  /// Checks guarantee 2: each event ends in exactly one final decision for each interested instance.
  private mutating func everythingIsDecided(_ references: [ReferencePlanner]) throws {
    let reader = JSONReader(bytesMax: DomainBounds.recordBytesMax, nestingMax: DomainBounds.nestingMax)
    var finals: [ReferencePlanner.Interested: Int] = [:]
    for message in decisionLines {
      let decision = try Decision(json: message.value ?? [], reader: reader)
      guard decision.final else { continue }
      finals[
        ReferencePlanner.Interested(event: decision.event, device: decision.device, instance: decision.instance),
        default: 0] += 1
    }
    for one in references.flatMap(\.wanted) {
      let count = finals.removeValue(forKey: one) ?? 0
      if count != 1 { found("event \(one.event) has \(count) final decisions for \(one.device)/\(one.instance)") }
    }
    let later = references.reduce(into: Set<ReferencePlanner.Interested>()) { $0.formUnion($1.wantedLater) }
    for (one, count) in finals.sorted(by: { "\($0.key)" < "\($1.key)" }) where count > 1 || !later.contains(one) {
      found("event \(one.event) was decided for \(one.device)/\(one.instance), which was not interested")
    }
  }

  /// Checks guarantees 3 and 4: the output has the same bytes as that of one planner in one go, each record once, in order.
  private mutating func outputIsThatOfOnePlanner(_ references: [ReferencePlanner]) {
    for (name, topic) in [("decisions", topics.decisions), ("commands", topics.commands)] {
      var actual: [Int: [KafkaMessage]] = [:]
      for partition in 0..<run.scenario.partitions {
        var last: [Int: (Int, Int)] = [:]
        let messages = name == "decisions" ? decisions(partition) : run.broker.committed(topic, partition)
        for message in messages {
          guard let id = Self.id(message.value ?? []) else {
            found("no id at \(message.topicPartition)@\(message.offset)")
            continue
          }
          let device = Identifier(decoding: message.key ?? [])
          if name == "commands",
            Int(DevicePartitioner.partition(of: device, count: Int32(run.scenario.partitions))) != partition
          {
            found("\(message.topicPartition)@\(message.offset) belongs into another partition by its key")
          }
          if let before = last[id.partition], before >= (id.offset, id.ordinal) {
            found("\(topic): \(id) stands behind \(before)")
          }
          last[id.partition] = (id.offset, id.ordinal)
          actual[id.partition, default: []].append(message)
        }
      }
      for (partition, reference) in references.enumerated() {
        compare(
          actual[partition] ?? [], reference.outputs.filter { $0.topic == name },
          "\(name) of log partition \(partition)")
      }
    }
  }

  private mutating func compare(_ actual: [KafkaMessage], _ expected: [ReferencePlanner.Output], _ what: String) {
    func order(_ value: [UInt8]) -> (Int, Int) { Self.id(value).map { ($0.offset, $0.ordinal) } ?? (-1, -1) }
    let found = actual.sorted { order($0.value ?? []) < order($1.value ?? []) }
    if found.count != expected.count { self.found("\(what): \(found.count), one planner makes \(expected.count)") }
    for (one, other) in zip(found, expected) where one.value != other.value || one.key != other.key {
      self.found(
        "\(what): \(String(decoding: one.value ?? [], as: UTF8.self)) where one planner makes "
          + "\(String(decoding: other.value, as: UTF8.self))")
      return
    }
  }

  private static func idText(_ value: [UInt8]) -> String? {
    let parts = value.split(separator: UInt8(ascii: "\""), maxSplits: 4, omittingEmptySubsequences: false)
    return parts.count > 3 ? String(decoding: parts[3], as: UTF8.self) : nil
  }

  /// Parses the id `<letter>-<partition>-<offset>-<ordinal>`, the first member of every decision and command.
  private static func id(_ value: [UInt8]) -> (partition: Int, offset: Int, ordinal: Int)? {
    let numbers = idText(value)?.split(separator: "-").dropFirst().compactMap { Int($0) } ?? []
    return numbers.count == 3 ? (numbers[0], numbers[1], numbers[2]) : nil
  }

  /// Checks that every decision and every command is in the audit store once.
  private mutating func auditIsWhole() {
    for (name, topic) in [(topics.decisions, AuditTopic.decisions), (topics.commands, .commands)] {
      for partition in 0..<run.scenario.partitions {
        let messages =
          topic == .decisions ? decisions(partition) : run.broker.committed(name, partition)
        let committed = messages.map {
          SimulatedAudit.Stored(offset: $0.offset, id: Identifier(Self.idText($0.value ?? []) ?? ""))
        }
        let stored = run.audit.records[SimulatedAudit.Place(topic: topic, partition: Int32(partition))] ?? []
        if stored != committed {
          let difference = stored.difference(from: committed)
          found(
            "audit of \(name)[\(partition)]: \(stored.count) records, \(committed.count) are committed; \(difference.first.map { "\($0)" } ?? "")"
          )
        }
      }
    }
  }

  /// Checks guarantee 3: `rouse.state` holds the state of one planner in one go, so there is no charge without its command and
  /// no command without its charge.
  private mutating func stateIsThatOfOnePlanner(_ references: [ReferencePlanner]) throws {
    for (partition, reference) in references.enumerated() {
      var restore = PlannerRestore(
        partition: Int32(partition), partitionCount: Int32(run.scenario.partitions),
        bounds: run.scenario.settings.bounds)
      var birth: Int64?
      var position: PlannerPosition?
      for message in run.broker.committed(topics.state, partition) {
        guard let key = message.key else { continue }
        if key == PlannerPosition.key {
          position = try message.value.map { try PlannerPosition(bytes: $0) }
          birth = birth ?? position?.birth
        } else {
          try restore.add(key: key, value: message.value)
        }
      }
      if position?.nextOffset != reference.nextOffset {
        found(
          "the state of partition \(partition) is at \(position?.nextOffset ?? -1), the log at \(reference.nextOffset)")
      }
      if position?.birth != birth { found("the birth of partition \(partition) changed") }
      let restored = try ReferencePlanner.state(of: try restore.finish(initialPolicy: run.initialPolicy))
      let expected = try ReferencePlanner.state(of: reference.planner)
      for key in Set(restored.keys).union(expected.keys).sorted(by: { $0.lexicographicallyPrecedes($1) })
      where restored[key] != expected[key] && !isUntouchedApp(key, restored[key] ?? expected[key]) {
        found(
          "state of partition \(partition), record \(String(decoding: key, as: UTF8.self)): "
            + "\(restored[key].map { "\($0)" } ?? "none"), one planner has \(expected[key].map { "\($0)" } ?? "none")")
      }
    }
  }

  /// Whether the record belongs to an app that was never charged: such a record is written only with the whole state.
  private func isUntouchedApp(_ key: [UInt8], _ value: [UInt8]?) -> Bool {
    key.starts(with: Array("a/".utf8)) && value?.dropFirst() == [0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1]
  }
}
