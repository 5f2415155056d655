import Domain

/// Decisions and commands for tests.
enum Sample {
  /// 2026-11-20T14:00:00Z
  static let start = Timestamp(microseconds: 1_795_183_200_000_000)
  static let policy = PolicyReference(version: "2026-11-20.1", hash: "0123456789abcdef")

  static func decision(
    _ n: Int, event: Identifier = "e1", device: Identifier = "phone", instance: Identifier = "w1",
    kind: Identifier = "FlightStatus",
    verdict: Verdict = .suppress, reason: Reason = .notVisible, final: Bool = true, at: Timestamp = start,
    wrong: Double = 0.64, looks: Double = 0.8, value: Double = 0.4096, price: Double = 0.3, relevance: Double = 0.5,
    left: Int? = 11, until: Timestamp? = nil,
    command: Identifier? = nil, objective: ObjectiveResult? = nil, events: [Identifier]? = nil, partition: Int = 0
  ) -> Decision {
    Decision(
      decision: "d-\(partition)-\(n)-0", event: event, events: events ?? [event], device: device, instance: instance,
      kind: kind, surface: .widget, verdict: verdict, reason: reason, final: final, at: at, relevance: relevance,
      wrong: wrong, looks: looks, value: value, price: price,
      tokensLeft: Decision.TokensLeft(instance: left, device: 2), until: until,
      command: command, objective: objective, policy: policy)
  }

  static func command(
    _ n: Int, device: Identifier = "phone", at: Timestamp = start, serves: [Command.Served]? = nil, left: Int = 10
  ) -> Command {
    Command(
      command: "c-0-\(n)-0", device: device, app: "com.example.flights", environment: .production, surface: .widget,
      serves: serves
        ?? [Command.Served(instance: "w1", kind: "FlightStatus", events: ["e1"], reason: .emitted)],
      charged: [
        Command.Charge(ledger: .instance, owner: "w1", left: left),
        Command.Charge(ledger: .device, owner: device, left: 2),
      ],
      apns: Command.APNs(
        address: .token("00ff"), headers: [Command.Header(name: "apns-push-type", value: "widgets")],
        payload: #"{"aps":{"content-changed":true}}"#), at: at, expires: at + .minutes(30), policy: policy)
  }

  /// Returns a random decision: each optional field is there or not, and ids have either form.
  static func anyDecision(_ n: Int, using random: inout SeededRandom) -> Decision {
    func name(_ prefix: String, _ bound: Int) -> Identifier {
      let endings = ["", "", "", " ä 🏈", "\0", "\0x", "'"]
      return
        "\(prefix)-\(Int.random(in: 0..<bound, using: &random))\(endings[Int.random(in: 0..<endings.count, using: &random)])"
    }
    func maybe<T>(_ value: T) -> T? { Bool.random(using: &random) ? value : nil }
    func number() -> Double {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: 0
      case 1: .infinity
      case 2: .leastNonzeroMagnitude
      case 3: 1
      default: Double.random(in: 0...1, using: &random)
      }
    }
    let event = name("event", 20)
    let partition = Int.random(in: 0..<3, using: &random)
    let at = Timestamp(microseconds: Int64.random(in: -1_000_000...2_000_000_000_000_000, using: &random))
    let commands: [Identifier] = [
      "c-\(partition)-\(n)-\(Int.random(in: 0..<4, using: &random))", "c-9-\(n)-1", "command \(n)", "c-0-007-1", "",
    ]
    let causes = [[event], [], ["older", event], [event, event], ["other"]]
    return Decision(
      decision: Int.random(in: 0..<8, using: &random) == 0 ? "odd id \(n)" : "d-\(partition)-\(n)-0", event: event,
      events: causes[Int.random(in: 0..<causes.count, using: &random)], device: name("device", 10),
      instance: name("w", 3), kind: name("Kind", 3), surface: Surface.allCases.randomElement(using: &random) ?? .widget,
      verdict: Verdict.allCases.randomElement(using: &random) ?? .emit,
      reason: Reason.allCases.randomElement(using: &random) ?? .emitted, final: Bool.random(using: &random), at: at,
      relevance: number(), wrong: number(), looks: number(), value: number(), price: number(),
      tokensLeft: Decision.TokensLeft(
        instance: maybe(Int.random(in: -1...200, using: &random)), device: maybe(5), app: maybe(Int.max)),
      until: maybe(at + .minutes(Int64.random(in: -5...500, using: &random))),
      command: maybe(commands[Int.random(in: 0..<commands.count, using: &random)]),
      objective: maybe(Bool.random(using: &random) ? .met : .missed),
      policy: PolicyReference(version: name("v", 2), hash: name("h", 2)),
      traceparent: maybe("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0\(n % 2)"))
  }

  /// Returns a random command with charges to owners of every kind.
  static func anyCommand(_ n: Int, using random: inout SeededRandom) -> Command {
    let device: Identifier = "device-\(Int.random(in: 0..<10, using: &random))"
    let at = Timestamp(microseconds: Int64.random(in: 0...2_000_000_000_000_000, using: &random))
    let serves = (0..<Int.random(in: 0...3, using: &random)).map {
      Command.Served(
        instance: "w-\($0)", kind: "Kind-\($0)",
        events: (0..<Int.random(in: 0...3, using: &random)).map { "event-\($0)" },
        eventsLeftOut: Bool.random(using: &random) ? 0 : Int.random(in: 1...40, using: &random),
        reason: Reason.allCases.randomElement(using: &random) ?? .emitted)
    }
    let owners: [Identifier] = [device, "app", "w-0", "w-2", "somebody else", ""]
    let charged = (0..<Int.random(in: 0...4, using: &random)).map { _ in
      Command.Charge(
        ledger: Command.Ledger.allCases.randomElement(using: &random) ?? .device,
        owner: owners.randomElement(using: &random) ?? device, left: Int.random(in: -3...9_000, using: &random))
    }
    return Command(
      command: n % 5 == 0 ? "odd command \(n)" : "c-\(n % 3)-\(n)-1", device: device, app: "app",
      environment: n % 2 == 0 ? .production : .sandbox,
      surface: Surface.allCases.randomElement(using: &random) ?? .widget, serves: serves, charged: charged,
      apns: Command.APNs(
        address: n % 2 == 0 ? .token("t\(n)") : .channel("ch\(n)"),
        headers: (0..<n % 4).map { Command.Header(name: "h\($0)", value: "värde \(n)") }, payload: "{\"n\":\(n)}"),
      at: at, expires: at + .minutes(Int64(n % 90) - 9), policy: policy, traceparent: n % 3 == 0 ? "trace \(n)" : nil,
      subject: n % 4 == 0 ? "match/\(n % 5)" : nil)
  }
}
