public import Domain

/// Measures how fast a store takes decisions in and how many bytes they need.
public enum AuditBenchmark {
  public struct Result: Equatable, Sendable {
    public var decisions: Int
    public var commands: Int
    public var seconds: Double
    public var decisionsPerSecond: Double
    /// Everything in the file, commands and names included, for each decision.
    public var bytesPerDecision: Double
  }

  /// Fills a new file with made-up decisions in batches of 10,000: a fleet of `devices` with three widgets each, events
  /// that reach 50 instances, one decision in 20 with a command, from 12 partitions in turn.
  public static func run(
    decisions: Int, devices: Int = 100_000, path: String, now: () -> Timestamp
  ) throws(AuditError) -> Result {
    let store = try AuditStore.open(path: path)
    var made = MadeUpDecisions(devices: devices)
    var time: Int64 = 0
    var stored = StoredCounts(decisions: 0, commands: 0, duplicates: 0)
    while stored.decisions < decisions {
      let batch = made.batch(count: min(10_000, decisions - stored.decisions))
      let start = now()
      let counts = try store.store(batch)
      time += (now() - start).microseconds
      stored.decisions += counts.decisions
      stored.commands += counts.commands
    }
    let seconds = Double(max(1, time)) / 1e6
    return Result(
      decisions: stored.decisions, commands: stored.commands, seconds: seconds,
      decisionsPerSecond: Double(stored.decisions) / seconds,
      bytesPerDecision: Double(try store.bytesUsed()) / Double(max(1, stored.decisions)))
  }
}

/// Decisions with the shapes that real ones have.
private struct MadeUpDecisions {
  let devices: Int
  private var seed: UInt64 = 0x9E37_79B9_7F4A_7C15
  private var count = 0
  private var event = 0
  private static let partitions = 12

  init(devices: Int) { self.devices = max(1, devices) }

  private mutating func random(below bound: Int) -> Int {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(seed >> 33) % bound
  }

  mutating func batch(count size: Int) -> AuditBatch {
    var batch = AuditBatch()
    for _ in 0..<size {
      if count % 50 == 0 { event += 1 }
      count += 1
      let partition = event % Self.partitions
      let offset = Int64(event / Self.partitions + 1_000_000)
      let ordinal = count % 50
      let device = "device-\(10_000_000 + random(below: devices))-3f2a9c41"
      let kind = random(below: 3)
      let at = Timestamp(milliseconds: 1_795_000_000_000 + Int64(count) * 2)
      let dice = random(below: 100)
      let (verdict, reason): (Verdict, Reason) =
        dice < 5
        ? (.emit, .emitted)
        : dice < 35 ? (.defer, .belowPrice) : dice < 60 ? (.suppress, .notVisible) : (.suppress, .expired)
      let name = "event-\(20_000_000 + event)-8c1d"
      let instance = "\(device)/\(kind)"
      let command = verdict == .emit ? "c-\(partition)-\(offset)-\(ordinal)" : nil
      let worthless = reason == .notVisible
      batch.append(
        Decision(
          decision: "d-\(partition)-\(offset)-\(ordinal)", event: name, events: [name], device: device,
          instance: instance, kind: Self.kinds[kind], surface: .widget, verdict: verdict, reason: reason,
          final: verdict != .defer, at: at, relevance: worthless ? 0 : Double(random(below: 1000)) / 1e3,
          value: worthless ? 0 : Double(random(below: 1_000_000)) / 1e6,
          price: worthless ? 0 : Double(random(below: 1_000_000)) / 1e6,
          tokensLeft: Decision.TokensLeft(instance: random(below: 48), device: random(below: 4)),
          until: verdict == .defer ? at + .minutes(7) : nil, command: command, policy: Self.policy,
          traceparent: nil),
        partition: Int32(partition), offset: Int64(count))
      guard let command else { continue }
      batch.append(
        Command(
          command: command, device: device, app: "com.example.flights", environment: .production, surface: .widget,
          serves: [Command.Served(instance: instance, kind: Self.kinds[kind], events: [name], reason: reason)],
          charged: [
            Command.Charge(ledger: .instance, owner: instance, left: 12),
            Command.Charge(ledger: .device, owner: device, left: 2),
          ],
          apns: Command.APNs(
            address: .token("\(device)00000000000000000000000000000000000000000000"),
            headers: [
              Command.Header(name: "apns-push-type", value: "widgets"),
              Command.Header(name: "apns-topic", value: "com.example.flights.push-type.widgets"),
            ], payload: #"{"aps":{"content-changed":true}}"#), at: at, expires: at + .minutes(30), policy: Self.policy),
        partition: Int32(partition), offset: Int64(count))
    }
    return batch
  }

  private static let kinds = ["FlightStatus", "AirportDelays", "GateChange"]
  private static let policy = PolicyReference(version: "2026-11-20.1", hash: "0123456789abcdef")
}
