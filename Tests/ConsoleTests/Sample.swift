import Auditing
import Domain

/// Decisions and commands for tests.
enum Sample {
  /// 2026-11-20T14:00:00Z
  static let start = Timestamp(microseconds: 1_795_183_200_000_000)
  static let policy = PolicyReference(version: "2026-11-20.1", hash: "0123456789abcdef")
  /// An id that every form must escape.
  static let hostile: Identifier = "=cmd|'/C calc'!A0\r\n\"x\",<script>ä🏈\u{202e}"

  static func decision(
    _ n: Int, event: Identifier = "e1", device: Identifier = "phone", instance: Identifier = "w1",
    kind: Identifier = "FlightStatus", verdict: Verdict = .suppress, reason: Reason = .notVisible, at: Timestamp? = nil,
    command: Identifier? = nil, objective: ObjectiveResult? = nil
  ) -> Decision {
    Decision(
      decision: "d-0-\(n)-0", event: event, events: [event], device: device, instance: instance, kind: kind,
      surface: .widget, verdict: verdict, reason: reason, final: verdict != .defer,
      at: at ?? start + .seconds(Int64(n)),
      relevance: 0.5, wrong: 0.64, looks: 0.8, value: 0.4096, price: 0.3,
      tokensLeft: Decision.TokensLeft(instance: 11, device: 2), until: nil, command: command, objective: objective,
      policy: policy)
  }

  static func command(_ n: Int, device: Identifier = "phone", at: Timestamp? = nil) -> Command {
    let at = at ?? start + .seconds(Int64(n))
    return Command(
      command: "c-0-\(n)-0", device: device, app: "com.example.flights", environment: .production, surface: .widget,
      serves: [Command.Served(instance: "w1", kind: "FlightStatus", events: ["e1"], reason: .emitted)],
      charged: [
        Command.Charge(ledger: .instance, owner: "w1", left: 10),
        Command.Charge(ledger: .device, owner: device, left: 2),
      ],
      apns: Command.APNs(
        address: .token("00ff00ff"), headers: [Command.Header(name: "apns-push-type", value: "widgets")],
        payload: #"{"aps":{"content-changed":true}}"#), at: at, expires: at + .minutes(30), policy: policy)
  }

  /// A push that starts a Live Activity.
  static func start(_ n: Int, device: Identifier) -> Command {
    var command = command(n, device: device)
    (command.surface, command.subject) = (.liveActivity, "match/\(n)")
    command.serves[0].instance = "start"
    return command
  }

  /// Decisions of two ordinary devices and a hostile one: 40 decisions in all, of which one has a command.
  static func batch() -> AuditBatch {
    var batch = AuditBatch()
    for n in 1...30 {
      batch.append(
        decision(
          n, event: "e\(n % 3)", device: n % 2 == 0 ? "phone" : "tablet", verdict: n == 30 ? .emit : .suppress,
          reason: n == 30 ? .emitted : .notVisible, command: n == 30 ? "c-0-30-0" : nil,
          objective: n == 7 ? .missed : nil))
    }
    for n in 31...40 { batch.append(decision(n, event: hostile, device: hostile, instance: hostile, kind: hostile)) }
    batch.append(command(30))
    return batch
  }
}
