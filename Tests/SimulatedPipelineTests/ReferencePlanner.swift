import Domain
import JSON
import KafkaClient
import Planning
import Policies

@testable import Pipeline

/// What one planner makes of a log partition in one go: no restarts, no transactions, no positions.
struct ReferencePlanner {
  struct Output: Equatable {
    var topic: String
    var key: [UInt8]
    var value: [UInt8]
  }

  private(set) var planner: Planner
  private(set) var outputs: [Output] = []
  /// Every origin of the log, and the highest of each partition: planners remember no more than that.
  private(set) var origins: Set<Origin> = []
  private var highest: [PlannerPosition.OriginPartition: Int64] = [:]
  /// Whom an event reached when it came first, and whom only when it came again.
  private(set) var wanted: [Interested] = []
  private(set) var wantedLater: Set<Interested> = []
  private(set) var nextOffset: Int64 = 0
  private(set) var unreadable: [KafkaPosition] = []
  /// What the log tells of broadcast channels.
  private(set) var channels: [Registration] = []
  private var output = PlannerOutput()
  private var decisionWriter = DecisionWriter()
  private var interests = InterestFold()

  /// One event that an instance is to hear of.
  struct Interested: Hashable {
    var event: String
    var device: String
    var instance: String
  }

  init(partition: Int32, of scenario: Scenario, policy: Policy) {
    planner = Planner(
      partition: partition, partitionCount: Int32(scenario.partitions), policy: policy,
      bounds: scenario.settings.bounds)
  }

  mutating func take(_ message: KafkaMessage) {
    nextOffset = message.offset + 1
    let record: LogRecord
    do throws(BinaryError) { record = try LogRecord(bytes: message.value ?? []) } catch {
      unreadable.append(KafkaPosition(message.topicPartition, offset: message.offset))
      return
    }
    let isNew = record.origin.map { origins.insert($0).inserted } ?? true
    if let origin = record.origin {
      let place = PlannerPosition.OriginPartition(topic: origin.topic, partition: origin.partition)
      guard origin.offset > highest[place, default: -1] else {
        // What intake reads again, or a duplicate that it knew as one before it was started anew. Anything else is lost,
        // and missed among the decisions.
        if isNew { note(record.content) }
        return
      }
      highest[place] = origin.offset
    }
    if case .registration(let registration) = record.content, registration.isChannel { channels.append(registration) }
    planner.begin(
      record.content, offset: message.offset,
      timestamp: Timestamp(milliseconds: message.timestampMilliseconds ?? 0).microseconds)
    note(record.content)
    var done = false
    while !done {
      done = planner.advance(into: &output)
      for i in 0..<output.decisionCount {
        var json = JSONWriter()
        decisionWriter.write(i, of: output, by: planner, to: &json)
        outputs.append(
          Output(
            topic: "decisions", key: Array(planner.decision(i, of: output).device.utf8), value: json.bytes))
      }
      for i in 0..<output.commandCount {
        let command = planner.command(i, of: output)
        outputs.append(Output(topic: "commands", key: Array(command.device.utf8), value: command.json()))
      }
    }
  }

  private mutating func note(_ content: LogRecord.Content) {
    let (isFirst, found) = interests.take(content, now: planner.now.microseconds)
    if isFirst { wanted += found } else { wantedLater.formUnion(found) }
  }

  /// Every record of the state as it is now. Which chunks of notes stand in the topic, and in which of them a subject
  /// (its last eight bytes), depends on what was committed together: that is left out.
  static func state(of planner: Planner) -> [[UInt8]: [UInt8]] {
    var records: [[UInt8]: [UInt8]] = [:]
    var walk = StateWalk()
    while !planner.writeState(from: &walk, recordsMax: 1000, { records[Array($0)] = $1.map { Array($0) } }) {}
    for (key, value) in records {
      switch key.first {
      case UInt8(ascii: "n"): records[key] = nil
      case UInt8(ascii: "m"): records[key] = Array(value.dropLast(8))
      default: continue
      }
    }
    return records
  }
}

/// Who is interested in which event, by the log alone and without a planner.
struct InterestFold {
  private struct Device {
    var updatedAt: Int64
    var instances: [(id: String, interests: [String])]
    /// Of a channel: when its newest activity began, and when nobody listens to it any more. µs
    var startedAt: Int64 = .min
    var endsAt: Int64 = .max
  }
  private var devices: [String: Device] = [:]
  private var seen: Set<String> = []
  /// How long the system lets an activity run, µs; source: Apple, Displaying live data with Live Activities.
  private static let activityLife: Int64 = 8 * 3_600_000_000

  /// - Returns: whether an event comes for the first time, and whom it reaches.
  mutating func take(_ content: LogRecord.Content, now: Int64) -> (Bool, [ReferencePlanner.Interested]) {
    for (device, state) in devices where state.endsAt <= now { devices[device] = nil }
    switch content {
    case .registration(let registration): register(registration, now: now)
    case .forget(let device): devices[device] = nil
    case .event(let event): return (seen.insert(event.id).inserted, interested(event))
    case .signal, .policy, .tick: break
    }
    return (false, [])
  }

  private mutating func register(_ registration: Registration, now: Int64) {
    let known = devices[registration.device]
    guard registration.updatedAt.microseconds >= known?.updatedAt ?? .min else { return }
    var device = Device(updatedAt: min(registration.updatedAt.microseconds, now), instances: [])
    device.instances += registration.widgets.map { ($0.id, $0.interests) }
    device.instances += registration.controls.map { ($0.id, $0.interests) }
    for activity in registration.activities {
      // One that listens to a channel is planned once for all devices, under the channel's own registration.
      if !registration.isChannel, case .channel = activity.address { continue }
      device.instances.append((activity.id, activity.interests))
      guard registration.isChannel else { continue }
      device.startedAt = max(min(activity.startedAt.microseconds, now), known?.startedAt ?? .min)
      device.endsAt = max(device.startedAt + Self.activityLife, now + 1)
    }
    device.instances += registration.pushToStart.map { (Registration.starterID(kind: $0.kind), $0.interests) }
    devices[registration.device] = device
  }

  private func interested(_ event: DomainEvent) -> [ReferencePlanner.Interested] {
    var found: [ReferencePlanner.Interested] = []
    for (device, state) in devices.sorted(by: { $0.key < $1.key }) {
      // Whatever its kind makes of it: that no rule wants it is a decision too.
      for instance in state.instances where instance.interests.contains(event.subject) {
        found.append(ReferencePlanner.Interested(event: event.id, device: device, instance: instance.id))
      }
    }
    return found
  }
}
