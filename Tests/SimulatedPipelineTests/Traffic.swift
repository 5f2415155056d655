import Domain
import JSON
import KafkaClient
import Simulation

/// What publishers write in one run: registrations, events, signals and what nobody can read, some of it late and some
/// of it twice.
struct Traffic {
  /// What a record of a public topic is, as the publisher knows.
  enum Kind: Equatable {
    case event(id: String)
    case device
    case signal
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
  /// Pushes that a sender said were refused for good, or expired.
  private(set) var refusals = 0
  private var eventsMade = 0
  private var signalsMade = 0
  private var registered: [Int] = []
  private var earlier: [(topic: String, key: String, value: [UInt8], kind: Kind)] = []
  private let devices: Int
  /// Whether senders tell what became of commands: what was refused is refunded.
  private let refunds: Bool
  private static let flights = ["flight/UA1", "flight/UA2", "flight/DL7", "team/roma"]
  private static let zones = ["America/New_York", "Europe/Rome", "Asia/Kolkata"]

  init(seed: UInt64, broker: SimulatedBroker, prefix: String, devices: Int, refunds: Bool) {
    random = SeededRandom(seed: seed, stream: 2)
    self.broker = broker
    self.prefix = prefix
    self.devices = devices
    self.refunds = refunds
  }

  /// Publishes one thing.
  mutating func publish() {
    if registered.count < devices, random.chance(1, in: 2) { return register(registered.count) }
    switch random.below(20) {
    case 0: unreadable()
    case 1, 2: signal()
    case 3: register(random.below(devices))
    case 4 where random.chance(1, in: 3): forget()
    case 5, 6: again()
    case 7...9: if refunds { delivered() } else { event() }
    default: event()
    }
  }

  private var now: Timestamp { Timestamp(milliseconds: broker.time.brokerMilliseconds) }

  private mutating func write(_ topic: String, key: String, value: [UInt8]?, _ kind: Kind) {
    let name = prefix + topic
    let count = broker.topics[name]?.logs.count ?? 1
    let partition = Int32(key.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff } % count)
    let offset = broker.append(name, partition, key: Array(key.utf8), value: value)
    let place = KafkaPosition(KafkaTopicPartition(topic: name, partition: partition), offset: offset)
    sent.append(Sent(kind: kind, place: place))
    if let value, earlier.count < 50 { earlier.append((topic, key, value, kind)) }
  }

  private mutating func register(_ index: Int) {
    if !registered.contains(index) { registered.append(index) }
    let device = "d\(index)"
    var widgets = [
      Registration.Widget(id: "w1", kind: "FlightStatus", interests: [Self.flights[index % Self.flights.count]])
    ]
    if random.chance(2, in: 3) {
      widgets.append(Registration.Widget(id: "w2", kind: "Score", interests: [pick(), pick()]))
    }
    let registration = Registration(
      device: device, app: "com.example.flights", environment: .production, platform: "iOS",
      osVersion: OSVersion(major: random.chance(1, in: 6) ? 18 : 26), timeZone: Self.zones[index % Self.zones.count],
      tokens: Registration.Tokens(widgets: "aa\(index)", background: random.chance(1, in: 2) ? "bb\(index)" : nil),
      widgets: widgets, updatedAt: now)
    write("devices", key: device, value: registration.json(), .device)
  }

  private mutating func pick() -> String { Self.flights[random.below(Self.flights.count)] }

  private mutating func forget() {
    guard !registered.isEmpty else { return }
    write("devices", key: "d\(registered[random.below(registered.count)])", value: nil, .device)
  }

  private mutating func event() {
    eventsMade += 1
    let id = "e\(eventsMade)"
    let subject = pick()
    // Some are late: their time is well before they arrive.
    let time = Timestamp(
      milliseconds: broker.time.brokerMilliseconds - (random.chance(1, in: 8) ? Int64(random.below(600_000)) : 0))
    let type = random.chance(1, in: 4) ? "score.changed" : "flight.delay.changed"
    let json =
      #"{"specversion":"1.0","id":"\#(id)","source":"/test","type":"\#(type)","subject":"\#(subject)","#
      + #""time":"\#(time)","data":{"delay":\#(random.below(90)),"goals":\#(random.below(5))}}"#
    write("events", key: subject, value: Array(json.utf8), .event(id: id))
  }

  private mutating func signal() {
    guard !registered.isEmpty else { return event() }
    signalsMade += 1
    let device = "d\(registered[random.below(registered.count)])"
    let kind: Signal.Kind =
      switch random.below(5) {
      case 0: .appForegrounded
      case 1: .appBackgrounded
      case 2: .widgetFetched(instance: random.chance(1, in: 2) ? "w1" : nil)
      case 3: .widgetViewed(instance: nil)
      default: .tokenRejected(token: "aa\(random.below(devices))")
      }
    write(kind, of: device)
  }

  private mutating func write(_ kind: Signal.Kind, of device: String) {
    var json = JSONWriter()
    Signal(device: device, id: "s\(signalsMade)", time: now, kind: kind).encode(to: &json, source: "/app")
    write("signals", key: device, value: json.bytes, .signal)
  }

  /// A sender tells what became of a command that it can see.
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
        command: String(decoding: parts[3], as: UTF8.self), outcome: outcome),
      of: String(decoding: command.key ?? [], as: UTF8.self))
  }

  private mutating func unreadable() {
    let values = [#"{"specversion":"1.0","id":"x"}"#, "not json", "", #"{"specversion":"1.0"}"#]
    let topic = ["events", "signals", "devices"][random.below(3)]
    write(topic, key: "bad\(sent.count)", value: Array(values[random.below(values.count)].utf8), .unreadable)
  }

  /// At least once: what was written before comes again.
  private mutating func again() {
    guard !earlier.isEmpty else { return event() }
    let one = earlier[random.below(earlier.count)]
    write(one.topic, key: one.key, value: one.value, one.kind)
  }
}
