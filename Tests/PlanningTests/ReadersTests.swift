import Domain
import JSON
import Policies
import Testing

@testable import Planning

@Suite("The readers of decisions and commands accept every record that a planner writes")
struct ReadersTests {
  @Test(
    "records with ids, kinds, subjects and apps at their bounds, and with large payloads, are read",
    arguments: 0..<12 as Range<UInt64>)
  func bounds(seed: UInt64) throws {
    var life = ExtremeLife(seed: seed)
    try life.register()
    for _ in 0..<14 { life.event() }
    life.harness.drain(until: life.time + PlannerHarness.hour)
    let reader = Command.makeReader()
    #expect(!life.harness.decisions.isEmpty, "seed \(seed)")
    for decision in life.harness.decisions {
      #expect(try Decision(json: decision.json(), reader: reader).json() == decision.json(), "seed \(seed)")
    }
    for command in life.harness.commands {
      let read = try Command(json: command.json(), reader: reader)
      // The reader writes the payload again, and may escape its characters in another way.
      var expected = command
      expected.apns.payload = read.apns.payload
      #expect(read == expected, "seed \(seed)")
      #expect(try Command(json: read.json(), reader: reader) == read, "seed \(seed)")
    }
    // The planner reached the bounds of each kind of push.
    let commands = life.harness.commands
    #expect(Set(commands.map(\.surface)) == Set(Surface.allCases), "seed \(seed)")
    #expect(commands.contains { $0.device.utf8.count == 788 && $0.surface == .broadcast }, "seed \(seed)")
    #expect(life.harness.decisions.contains { $0.instance.utf8.count == 262 }, "seed \(seed)")
    #expect(commands.contains { $0.surface == .broadcast && $0.apns.payload.utf8.count > 3000 }, "seed \(seed)")
  }

  @Test("the largest command that a planner writes is read by its default reader, and fits into a topic")
  func largestCommand() throws {
    let id = Identifier(String(repeating: "\u{1}", count: DomainBounds.plannedDeviceBytesMax))
    let name = Identifier(String(repeating: "\u{1}", count: DomainBounds.nameBytesMax))
    let instance = Identifier(String(repeating: "\u{1}", count: DomainBounds.plannedInstanceBytesMax))
    let charge = Command.Charge(ledger: .instance, owner: instance, left: 48)
    // Two ids take nearly all of `servedEventBytesMax`: as many bytes as any list may.
    let events = [name, name] + Array(repeating: Identifier(String(repeating: "x", count: 256)), count: 2)
    let command = Command(
      command: "c-0-1-0", device: id, app: name, environment: .production, surface: .widget,
      serves: Array(
        repeating: Command.Served(instance: instance, kind: name, events: events, eventsLeftOut: 28, reason: .emitted),
        count: DomainBounds.instancesPerDeviceMax),
      charged: Array(repeating: charge, count: DomainBounds.instancesPerDeviceMax),
      apns: Command.APNs(
        address: .token(String(repeating: "a", count: DomainBounds.tokenBytesMax)), headers: [],
        payload: "{\"x\":\"\(String(repeating: "x", count: DomainBounds.payloadBytesMax - 8))\"}"),
      at: Timestamp(microseconds: 0), expires: Timestamp(microseconds: 0),
      policy: PolicyReference(version: "1", hash: "a"))
    let json = command.json()
    #expect(json.count > 600_000 && json.count < 1_000_000, "\(json.count) bytes")
    #expect(try Command(json: json) == command)
  }
}

/// Devices, a channel and events whose texts have the largest sizes that intake accepts.
private struct ExtremeLife {
  var random: SeededRandom
  var harness: PlannerHarness
  var time = PlannerHarness.noon
  private let filler: String
  private let subject: Identifier
  private let app: Identifier
  private let widgetKinds: [Identifier]
  private let activityKind: Identifier
  private let broadcastKind: Identifier
  private var count = 0

  /// Fills texts with control characters, with characters that JSON escapes, or with long characters.
  private static let fillers = ["\u{1}", "\u{0}", "\"", "\\", "\u{1f}", "\n", "é", "\u{2028}", "😀", "/", "\u{7f}", "x"]

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    let filler = Self.fillers[Int(seed) % Self.fillers.count]
    self.filler = filler
    func text(_ label: String) -> Identifier { Self.text(label, filler, bytes: DomainBounds.nameBytesMax) }
    (subject, app) = (text("flight"), text("app"))
    widgetKinds = (0..<48).map { text("kind\($0)/") }
    (activityKind, broadcastKind) = (text("activity"), text("broadcast"))
    harness = PlannerHarness(
      Self.policy(
        widgetKinds: widgetKinds, activityKind: activityKind, broadcastKind: broadcastKind,
        payloadMax: seed % 3 == 0 ? 65_536 : 4096, broadcastMax: seed % 3 == 1 ? 65_536 : 5120))
  }

  /// A text that begins with a label and has an exact size.
  private static func text(_ label: String, _ filler: String, bytes: Int) -> Identifier {
    let room = bytes - label.utf8.count
    let fillers = room / filler.utf8.count
    return Identifier(
      label + String(repeating: filler, count: fillers)
        + String(repeating: "x", count: room - fillers * filler.utf8.count))
  }

  private static func policy(
    widgetKinds: [Identifier], activityKind: Identifier, broadcastKind: Identifier, payloadMax: Int, broadcastMax: Int
  ) -> Policy {
    ActivityTests.policy(also: { policy in
      guard let activity = policy.kinds.first(where: { $0.surface == .liveActivity }),
        let widget = policy.kinds.first(where: { $0.surface == .widget })
      else { return }
      let text = TemplateValue.field(path: "data.text", fallback: .null)
      func renamed(_ kind: KindPolicy, _ name: Identifier) -> KindPolicy {
        var kind = kind
        kind.name = name
        kind.activity?.contentState.append(TemplateMember(name: name, value: text))
        return kind
      }
      var broadcast = renamed(activity, broadcastKind)
      broadcast.surface = .broadcast
      policy.kinds = widgetKinds.map { renamed(widget, $0) } + [renamed(activity, activityKind), broadcast]
      policy.kinds.sort { $0.name < $1.name }
      policy.profile.payload.limit = payloadMax
      policy.profile.payload.broadcastLimit = broadcastMax
    })
  }

  private func name(_ label: String) -> Identifier { Self.text(label, filler, bytes: DomainBounds.nameBytesMax) }

  mutating func register() throws {
    for (os, device) in [(26, "new"), (18, "old")] as [(UInt16, String)] {
      var phone = Registration.phone(
        name(device),
        widgets: widgetKinds.map { .flight(name("w" + $0.text.prefix(6)), kind: $0, interests: [subject]) },
        os: os, tokens: Registration.Tokens(widgets: "aa\(os)", background: "bb\(os)"), app: app)
      phone.controls = [
        Registration.Control(id: name("control"), kind: widgetKinds[0], token: "cc\(os)", interests: [subject])
      ]
      phone.activities = [
        Registration.Activity(
          id: name("activity"), kind: activityKind, address: .token("\(os)" + String(repeating: "d", count: 510)),
          interests: [subject], startedAt: Timestamp(microseconds: time)),
        Registration.Activity(
          id: name("subscribed"), kind: broadcastKind, address: .channel(Self.text("channel", filler, bytes: 512)),
          interests: [subject], startedAt: Timestamp(microseconds: time)),
      ]
      phone.pushToStart = [Registration.PushToStart(kind: activityKind, token: "ee", interests: [subject])]
      #expect(try RegistrationDecoder { _ in true }.decode(phone.json()) == phone)
      harness.register(phone, at: time)
      for channel in phone.channels() { harness.register(channel, at: time) }
    }
  }

  mutating func event() {
    count += 1
    time += Int64.random(in: 0...(20 * PlannerHarness.minute), using: &random)
    let types: [Identifier] = [
      "flight.delay.changed", "flight.boarding", "flight.gate.changed", "flight.cancelled", "flight.arrived",
    ]
    var event = DomainEvent.delay(
      Double(count * 5), id: name("event\(count)"), subject: subject, at: time,
      type: count < 10 ? types[count % 3] : types.randomElement(using: &random) ?? types[0])
    event.traceparent = name("trace").text
    // The names take up to 1,600 of the 4,096 bytes of an activity's data.
    let sizes = [1: 3700, 5: 3000, 7: 2400]
    let size = sizes[count] ?? Int.random(in: 0...DomainBounds.eventTextBytesMax, using: &random)
    event.fields.append(EventField(path: "data.text", value: .string(String(repeating: "t", count: size))))
    harness.event(event, at: time)
  }
}
