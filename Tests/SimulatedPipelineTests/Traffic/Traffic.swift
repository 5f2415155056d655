import Domain
import JSON
import KafkaClient

/// The records that publishers write in one run: registrations, events, signals and unreadable bytes. Some are late, some
/// come twice. All surfaces occur: widgets reached by widget pushes and by background pushes, controls, Live Activities
/// that run or are started by push, broadcast channels, and devices in developer mode.
struct Traffic {
  /// The kind of a record of a public topic, as its publisher knows it.
  enum Kind: Equatable {
    case event(id: Identifier)
    /// A registration, with the announcements that its broadcast channels must get.
    case device(channels: [Registration])
    case forgotten
    case signal(id: Identifier)
    case unreadable
  }

  struct Sent {
    var kind: Kind
    var place: KafkaPosition
  }

  private var random: SeededRandom
  private let broker: SimulatedBroker
  private let prefix: String
  private(set) var sent: [Sent] = []
  /// The number of records of each kind that intake must refuse.
  private(set) var poisons: [Poison: Int] = [:]
  /// The number of pushes that a sender reported as refused for good or expired.
  private(set) var refusals = 0
  private var eventsMade = 0
  private var signalsMade = 0
  /// The devices that have registered.
  private var fleet: [TrafficDevice] = []
  private var earlier: [(topic: String, key: Identifier, value: [UInt8], kind: Kind)] = []
  private let devices: Int
  /// Whether senders report the outcomes of commands, so that refused ones are refunded.
  private let refunds: Bool
  private let isCrowded: Bool
  private let refusesSome: Bool
  /// Two subjects differ in their bytes alone: Unicode calls them equivalent.
  static let flights: [Identifier] = ["flight/caf\u{e9}", "flight/cafe\u{301}", "flight/DL7"]
  static let team: Identifier = "team/roma"
  static let subjects = flights + [team]
  /// The number of broadcast channels of each app.
  static let channels = 2
  /// The apps; most devices have the first one, some change between them.
  static let apps: [Identifier] = ["com.example.flights", "com.example.beta", "com.example.nightly"]
  /// One letter in two spellings, which Unicode calls equal and Kafka does not.
  private static let twins = ["\u{e9}", "e\u{301}"]
  /// The types of events by subject, with their weights. A planner must remember all pairs of subject and type
  /// (`Scenario.subjectsMax`).
  private static let flightTypes = [("flight.delay.changed", 5), ("flight.boarding", 2), ("flight.arrived", 1)]
  private static let teamTypes = [("score.changed", 4), ("flight.delay.changed", 2), ("match.ended", 1)]

  init(_ scenario: Scenario, broker: SimulatedBroker) {
    random = SeededRandom(seed: scenario.seed, stream: 2)
    self.broker = broker
    prefix = Scenario.prefix
    devices = scenario.devices
    refunds = scenario.refunds
    isCrowded = scenario.isCrowded
    refusesSome = scenario.refusesSome
  }

  /// Publishes one thing.
  mutating func publish() {
    if fleet.count < devices, random.chance(1, in: 2) { return register(fleet.count) }
    switch random.below(20) {
    case 0: unreadable()
    case 1...3: signal()
    case 4: register(random.below(devices))
    case 5 where random.chance(1, in: 3): forget()
    case 6, 7: again()
    case 8...10: if refunds { delivered() } else { event() }
    default: event()
    }
  }

  private var now: Timestamp { Timestamp(milliseconds: broker.time.brokerMilliseconds) }

  private mutating func write(
    _ topic: String, key: [UInt8], value: [UInt8]?, headers: [KafkaHeader] = [], _ kind: Kind
  ) {
    let name = prefix + topic
    let count = broker.topics[name]?.logs.count ?? 1
    let partition = Int32(key.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff } % count)
    let offset = broker.append(name, partition, key: key, value: value, headers: headers)
    let place = KafkaPosition(KafkaTopicPartition(topic: name, partition: partition), offset: offset)
    sent.append(Sent(kind: kind, place: place))
  }

  private mutating func write(_ topic: String, key: Identifier, value: [UInt8]?, _ kind: Kind) {
    write(topic, key: Array(key.utf8), value: value, kind)
    if case .event = kind, isCrowded { return }
    if let value, earlier.count < 50 { earlier.append((topic, key, value, kind)) }
  }

  private mutating func register(_ index: Int) {
    if index >= fleet.count { fleet.append(TrafficDevice(index: fleet.count, random: &random)) }
    let place = min(index, fleet.count - 1)
    let registration = fleet[place].registration(now: now, random: &random)
    write(
      "devices", key: registration.device, value: registration.json(), .device(channels: registration.channels()))
  }

  static func subject(_ random: inout SeededRandom) -> Identifier { subjects[random.below(subjects.count)] }

  private mutating func forget() {
    guard !fleet.isEmpty else { return }
    write("devices", key: fleet[random.below(fleet.count)].id, value: nil, .forgotten)
  }

  private mutating func event() {
    eventsMade += 1
    let isRefused = refusesSome && random.chance(1, in: 10)
    let prefix = isRefused ? Scenario.refusedPrefix : ""
    // Some ids are hostile to terminals, logs and JSON, and are ids all the same.
    let hostile = random.chance(1, in: 12)
    let (id, text): (Identifier, String) =
      if hostile {
        ("\(prefix)e\(eventsMade)\u{1b}[2J\n\"\u{202e}\\", #"\#(prefix)e\#(eventsMade)\u001b[2J\n\"\u202e\\"#)
      } else {
        // Every number is followed by its twin, with the same letters in other bytes.
        (
          "\(prefix)e\(eventsMade / 2)\(Self.twins[eventsMade % 2])",
          "\(prefix)e\(eventsMade / 2)\(Self.twins[eventsMade % 2])"
        )
      }
    let subject = isCrowded && random.chance(2, in: 3) ? "weather/\(eventsMade)" : Self.subject(&random)
    // Some events are late: they happened well before they arrive.
    let time = Timestamp(
      milliseconds: broker.time.brokerMilliseconds - (random.chance(1, in: 8) ? Int64(random.below(600_000)) : 0))
    let type = random.pick(subject == Self.team ? Self.teamTypes : Self.flightTypes)
    let json =
      #"{"specversion":"1.0","id":"\#(text)","source":"/test","type":"\#(type)","subject":"\#(subject)","#
      + #""time":"\#(time)","data":{"delay":\#(random.below(90)),"goals":\#(random.below(5))}}"#
    write("events", key: subject, value: Array(json.utf8), .event(id: id))
  }

  private mutating func signal() {
    guard !fleet.isEmpty else { return event() }
    signalsMade += 1
    let device = fleet[random.below(fleet.count)]
    let kind: Signal.Kind =
      switch random.below(9) {
      case 0: .appForegrounded
      case 1: .appBackgrounded
      case 2: .widgetFetched(instance: random.chance(1, in: 2) ? "w1" : nil)
      case 3: .widgetViewed(instance: nil)
      case 4: .activityStarted(Signal.ReportedActivity(instance: device.activityID))
      case 5: .activityEnded(Signal.ReportedActivity(instance: device.activityID))
      case 6: .activityDismissed(Signal.ReportedActivity(instance: device.activityID))
      default: .tokenRejected(token: device.someToken(&random))
      }
    write(kind, of: device.id)
  }

  private mutating func write(_ kind: Signal.Kind, of device: Identifier) {
    var json = JSONWriter()
    let id: Identifier = "s\(signalsMade)"
    Signal(device: device, id: id, time: now, kind: kind).encode(to: &json, source: "/app")
    // A signal in the name of a channel is refused.
    write(
      "signals", key: device, value: json.bytes,
      device.hasPrefix(Registration.channelPrefix) ? .unreadable : .signal(id: id))
  }

  /// Reports the outcome of a committed command, as a sender does.
  private mutating func delivered() {
    let commands = (0..<(broker.topics[prefix + "commands"]?.logs.count ?? 0))
      .flatMap { broker.committed(prefix + "commands", $0).suffix(4) }
    guard !commands.isEmpty else { return event() }
    let command = commands[random.below(commands.count)]
    let parts = (command.value ?? []).split(separator: UInt8(ascii: "\""), maxSplits: 4)
    guard parts.count > 3 else { return }
    signalsMade += 1
    let outcomes = Signal.DeliveryOutcome.allCases
    let outcome = outcomes[random.below(outcomes.count)]
    if outcome != .accepted { refusals += 1 }
    write(
      .deliveryCompleted(
        command: Identifier(decoding: parts[3]), outcome: outcome,
        answer: Signal.APNsAnswer(status: [nil, 400, 410, 503][random.below(4)])),
      of: Identifier(decoding: command.key ?? []))
  }

  /// Writes a record that intake must refuse.
  private mutating func unreadable() {
    let poison = Poison.allCases[random.below(Poison.allCases.count)]
    poisons[poison, default: 0] += 1
    let record = poison.record(key: "bad\(sent.count)")
    write(record.topic, key: record.key, value: record.value, headers: record.headers, .unreadable)
  }

  /// Writes an earlier record again, as publishers do that deliver at least once.
  private mutating func again() {
    guard !earlier.isEmpty else { return event() }
    let one = earlier[random.below(earlier.count)]
    write(one.topic, key: one.key, value: one.value, one.kind)
  }
}
