import Domain

/// Makes decisions and commands whose texts and figures have the shape of real ones. Two generators for the
/// same number of devices make the same decisions.
struct SyntheticDecisions {
  private let devices: Int
  private var random = SeededRandom(seed: 1)
  private var count = 0
  private var event = 0
  private static let partitions = 12
  /// The number of widgets that an event reaches.
  private static let fanOut = 50

  /// - Parameter devices: the number of devices that the decisions are about.
  init(devices: Int) { self.devices = max(1, devices) }

  /// The values of records, as a planner writes them.
  struct Records {
    /// Blocks of decisions.
    var blocks: [DecisionBlock] = []
    /// Commands.
    var commands: [[UInt8]] = []
  }

  /// Returns the next decisions, and the commands of those that were emitted.
  mutating func records(count size: Int) -> Records {
    var records = Records()
    var lines: [UInt8] = []
    for _ in 0..<size {
      if count % Self.fanOut == 0 { event += 1 }
      count += 1
      let decision = decision()
      let line = decision.json()
      if !lines.isEmpty, lines.count + 1 + line.count > DecisionBlock.bytesMax {
        records.blocks.append(DecisionBlock(lines, count: nil))
        lines.removeAll(keepingCapacity: true)
      }
      if !lines.isEmpty { lines.append(UInt8(ascii: "\n")) }
      lines += line
      if let command = command(of: decision) { records.commands.append(command.json()) }
    }
    if !lines.isEmpty { records.blocks.append(DecisionBlock(lines, count: nil)) }
    return records
  }

  private mutating func decision() -> Decision {
    let id = "\(event % Self.partitions)-\(event / Self.partitions + 1_000_000)-\((count - 1) % Self.fanOut)"
    let device: Identifier = "device-\(10_000_000 + random.below(devices))-3f2a9c41"
    let kind = random.below(3)
    let at = Timestamp(milliseconds: 1_795_000_000_000 + Int64(count) * 2)
    let (verdict, reason) = outcome()
    let name: Identifier = "event-\(20_000_000 + event)-8c1d"
    let isWorthless = reason == .notVisible
    return Decision(
      decision: "d-\(id)", event: name, events: [name], device: device, instance: "\(device)/\(kind)",
      kind: Self.kinds[kind], surface: .widget, verdict: verdict, reason: reason, final: verdict != .defer, at: at,
      relevance: isWorthless ? 0 : Double(random.below(1000)) / 1e3,
      wrong: isWorthless ? 0 : Double(random.below(1_000_000)) / 1e6,
      looks: isWorthless ? 0 : Double(random.below(1_000_000)) / 1e6,
      value: isWorthless ? 0 : Double(random.below(1_000_000)) / 1e6,
      price: isWorthless ? 0 : Double(random.below(1_000_000)) / 1e6,
      tokensLeft: Decision.TokensLeft(instance: random.below(48), device: random.below(4)),
      until: verdict == .defer ? at + .minutes(7) : nil, command: verdict == .emit ? "c-\(id)" : nil,
      policy: Self.policy, traceparent: nil)
  }

  /// Returns a verdict and its reason: 5 % emitted, 30 % below the price, 25 % not visible, 40 % expired.
  private mutating func outcome() -> (Verdict, Reason) {
    let dice = random.below(100)
    if dice < 5 { return (.emit, .emitted) }
    if dice < 35 { return (.defer, .belowPrice) }
    return (.suppress, dice < 60 ? .notVisible : .expired)
  }

  /// Returns the command that a decision names; nil when it names none.
  private func command(of decision: Decision) -> Command? {
    guard let id = decision.command else { return nil }
    return Command(
      command: id, device: decision.device, app: "com.example.flights", environment: .production, surface: .widget,
      serves: [
        Command.Served(
          instance: decision.instance, kind: decision.kind, events: decision.events, reason: decision.reason)
      ],
      charged: [
        Command.Charge(ledger: .instance, owner: decision.instance, left: 12),
        Command.Charge(ledger: .device, owner: decision.device, left: 2),
      ],
      apns: Command.APNs(
        address: .token("\(decision.device)00000000000000000000000000000000000000000000"),
        headers: [
          Command.Header(name: "apns-push-type", value: "widgets"),
          Command.Header(name: "apns-topic", value: "com.example.flights.push-type.widgets"),
        ], payload: #"{"aps":{"content-changed":true}}"#), at: decision.at, expires: decision.at + .minutes(30),
      policy: Self.policy)
  }

  private static let kinds: [Identifier] = ["FlightStatus", "AirportDelays", "GateChange"]
  private static let policy = PolicyReference(version: "2026-11-20.1", hash: "0123456789abcdef")
}
