import Domain
import JSON
import KafkaClient
import Policies

@testable import Pipeline
@testable import Planning

/// One planner that plans a log partition in one go, without restarts, transactions and positions: the expected output.
final class ReferencePlanner {
  struct Output: Equatable {
    var topic: String
    /// nil for a decision: blocks have no key.
    var key: [UInt8]?
    var value: [UInt8]
  }

  private(set) var planner: Planner
  private(set) var outputs: [Output] = []
  /// All origins of the log, and the highest of each partition, which is all that planners remember.
  private(set) var origins: Set<Origin> = []
  private var highest: [PlannerPosition.OriginPartition: Int64] = [:]
  /// The instances that an event reached when it came first, and those that it reached only when it came again.
  private(set) var wanted: [Interested] = []
  private(set) var wantedLater: Set<Interested> = []
  private(set) var nextOffset: Int64 = 0
  private(set) var unreadable: [KafkaPosition] = []
  /// The records that were set aside, and those among them that the broker would have taken.
  private(set) var setAside: [KafkaPosition] = []
  private(set) var wronglySetAside: [KafkaPosition] = []
  private var eventsSetAside: Set<Identifier> = []
  /// The announcements of broadcast channels in the log.
  private(set) var channels: [Registration] = []
  private var output = PlannerOutput()
  private var decisionWriter = DecisionWriter()
  private var interests = InterestFold()

  /// An event and an instance that is interested in it.
  struct Interested: Hashable {
    var event: Identifier
    var device: Identifier
    var instance: Identifier
  }

  init(partition: Int32, of scenario: Scenario, policy: Policy) {
    planner = Planner(
      partition: partition, partitionCount: Int32(scenario.partitions), policy: policy,
      bounds: scenario.settings.bounds)
  }

  /// Plans a record of the log.
  ///
  /// - Parameters:
  ///   - message: The record.
  ///   - isSetAside: Whether a dead letter says that the record was set aside. Then it counts as a tick.
  func take(_ message: KafkaMessage, isSetAside: Bool) {
    nextOffset = message.offset + 1
    let record: LogRecord
    do throws(BinaryError) { record = try LogRecord(bytes: message.value ?? []) } catch {
      unreadable.append(KafkaPosition(message.topicPartition, offset: message.offset))
      return
    }
    let isNew =
      record.origin.map { origins.insert(Origin(topic: $0.topic, partition: $0.partition, offset: $0.offset)).inserted }
      ?? true
    if let origin = record.origin {
      let place = PlannerPosition.OriginPartition(topic: origin.topic, partition: origin.partition)
      guard origin.offset > highest[place, default: -1] else {
        // Intake read the record again, or appends an event now that it had dropped as a duplicate before its restart. Any
        // other record would be lost, and the check of the decisions would miss it. A dead letter tells of an event that was
        // set aside when it came first.
        if isNew, !wasSetAside(record.content) { note(record.content) }
        return
      }
      highest[place] = origin.offset
    }
    if case .registration(let registration) = record.content, registration.isChannel { channels.append(registration) }
    let timestamp = Timestamp(milliseconds: message.timestampMilliseconds ?? 0).microseconds
    if isSetAside {
      let place = KafkaPosition(message.topicPartition, offset: message.offset)
      setAside.append(place)
      if case .event(let event) = record.content, event.id.text.hasPrefix(Scenario.refusedPrefix) {
        eventsSetAside.insert(event.id)
      } else {
        wronglySetAside.append(place)
      }
      planner.beginTick(offset: message.offset, timestamp: Timestamp(microseconds: timestamp))
    } else {
      planner.begin(record.content, offset: message.offset, timestamp: Timestamp(microseconds: timestamp))
      note(record.content)
    }
    var done = false
    while !done {
      done = planner.advance(into: &output)
      for i in 0..<output.decisionCount {
        var json = JSONWriter()
        decisionWriter.write(i, of: output, by: planner, to: &json)
        outputs.append(Output(topic: "decisions", key: nil, value: json.bytes))
      }
      for i in 0..<output.commandCount {
        let command = planner.command(i, of: output)
        outputs.append(Output(topic: "commands", key: Array(command.device.utf8), value: command.json()))
      }
    }
  }

  private func wasSetAside(_ content: LogRecord.Content) -> Bool {
    if case .event(let event) = content { eventsSetAside.contains(event.id) } else { false }
  }

  private func note(_ content: LogRecord.Content) {
    let (isFirst, found, starters) = interests.take(content, now: planner.now.microseconds)
    wantedLater.formUnion(starters)
    if isFirst { wanted += found } else { wantedLater.formUnion(found) }
  }

  /// Returns all state records of a planner, except for what depends on which records were committed together: the chunks, and
  /// the last bytes of subjects, devices and the clock, which name chunks.
  static func state(of planner: borrowing Planner) throws -> [[UInt8]: [UInt8]] {
    var records: [[UInt8]: [UInt8]] = [:]
    var walk = StateWalk()
    while !planner.writeState(from: &walk, recordsMax: 1000, { records[Array($0)] = $1.map { Array($0) } }) {}
    let pieces = records.filter { $0.key.first == SplitRecord.letter }
    for (key, value) in records {
      switch key.first {
      case ChunkSort.notes.rawValue, ChunkSort.devices.rawValue: records[key] = nil
      case UInt8(ascii: "m"): records[key] = Array(value.dropLast(9))
      case UInt8(ascii: "d"): records[key] = try Array(whole(key, value, pieces).dropLast(9))
      case UInt8(ascii: "p"):
        records[key] = try Array(whole(key, value, pieces).dropLast(key == StateKey.clock ? StateExtent.bytesCount : 0))
      case SplitRecord.letter: records[key] = nil
      default: continue
      }
    }
    return records
  }

  private static func whole(_ key: [UInt8], _ value: [UInt8], _ pieces: [[UInt8]: [UInt8]]) throws -> [UInt8] {
    guard value.first == SplitRecord.marker else { return value }
    return try SplitRecord(value[...], at: 0).whole(key, with: pieces)
  }
}
