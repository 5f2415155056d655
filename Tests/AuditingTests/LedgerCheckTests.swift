import Auditing
import Domain
import JSON
import Testing

@Suite("the independent check of the books")
struct LedgerCheckTests {
  private static let policy = PolicyReference(version: "1", hash: "0123456789abcdef")
  private static let noon: Int64 = 1_782_907_200_000_000
  private static let second: Int64 = 1_000_000

  /// A day of one device with one widget: charge after charge, a second apart, each with an event of its own.
  private struct Day {
    var decisions: [Decision] = []
    var commands: [Command] = []

    init(charges: Int, perDay: Int = 5, burst: Int = 3) {
      for i in 0..<charges {
        let at = Timestamp(microseconds: noon + Int64(i) * second)
        commands.append(
          Command(
            command: "c-0-\(i)-0", device: "d", app: "a", environment: .production, surface: .widget,
            serves: [Command.Served(instance: "w", kind: "K", events: ["e\(i)"], reason: .emitted)],
            charged: [
              Command.Charge(ledger: .instance, owner: "w", left: perDay - 1 - i),
              Command.Charge(ledger: .device, owner: "d", left: burst - 1),
            ], apns: Command.APNs(address: .token("aa"), headers: [], payload: "{}"), at: at, expires: at,
            policy: policy))
        decisions.append(
          Decision(
            decision: "d-0-\(i)-1", event: "e\(i)", events: ["e\(i)"], device: "d", instance: "w", kind: "K",
            surface: .widget, verdict: .emit, reason: .emitted, final: true, at: at, relevance: 1, value: 1, price: 1,
            tokensLeft: Decision.TokensLeft(), command: "c-0-\(i)-0", policy: policy))
      }
    }

    /// - Parameter twice: every record comes again.
    func check(twice: Bool = false) -> LedgerReport {
      let limits = LedgerLimits(
        device: LedgerLimits.Rate(limit: 1, windowMicroseconds: second, burst: 3),
        days: ["K": LedgerLimits.Day(perDay: 5, isRolling: false)])
      var check = LedgerCheck(limits: [policy.hash: limits])
      for _ in 0..<(twice ? 2 : 1) {
        for decision in decisions { check.add(decision: decision.json(), place: "decisions") }
        for command in commands.reversed() { check.add(command: command.json(), place: "commands") }
      }
      return check.finish()
    }
  }

  @Test("books that are right are found right, in any order and with records repeated")
  func right() {
    let report = Day(charges: 5).check(twice: true)
    #expect(report.violationCount == 0, "\(report.text)")
    #expect(report.decisions == 5 && report.commands == 5 && report.closed == 5)
    #expect(report.repeatedDecisions == 5 && report.repeatedCommands == 5)
    #expect(report.chargesRecomputed == 5 && report.ledgers == 2)
  }

  @Test("each kind of wrong book is found")
  func wrong() {
    func rules(_ change: (inout Day) -> Void) -> Set<LedgerReport.Rule> {
      var day = Day(charges: 5)
      change(&day)
      return Set(day.check().violationsByRule.keys)
    }
    #expect(rules { $0.commands.remove(at: 2) } == [.missingCommand, .ledgerBroken])
    #expect(rules { $0.decisions.remove(at: 2) } == [.unexplainedCommand, .servesDiffer])
    #expect(rules { $0.decisions[1].event = "e0" }.contains(.decidedTwice))
    #expect(rules { $0.decisions[1].final = false } == [.inconsistent])
    #expect(rules { $0.decisions[1].command = nil }.contains(.inconsistent))
    #expect(rules { $0.decisions[1].device = "other" }.contains(.servesDiffer))
    #expect(rules { $0.commands[1].serves[0].events.append("e9") } == [.servesDiffer])
    #expect(rules { $0.commands[1].charged[0].left = 1 }.contains(.ledgerBroken))
    #expect(rules { $0.commands[4].charged[0].left = -1 }.contains(.overspent))
    #expect(rules { $0.commands[3].charged[1].left = 1 } == [.ledgerBroken])
    #expect(
      rules { day in
        var other = day.decisions[0]
        other.reason = .emittedAfterDefer
        day.decisions.append(other)
      } == [.idReused])
  }

  @Test("a rate that is exceeded is found, to the microsecond")
  func rate() {
    var day = Day(charges: 5)
    // Three at once empty the burst; the next is due a second later.
    for i in 0..<5 {
      day.commands[i].at = Timestamp(microseconds: Self.noon + (i < 3 ? 0 : Int64(i - 2) * Self.second))
      day.commands[i].charged[1].left = max(0, 2 - i)
    }
    #expect(day.check().violationCount == 0, "\(day.check().text)")
    day.commands[3].at = Timestamp(microseconds: Self.noon + Self.second - 1)
    #expect(day.check().violationsByRule[.overspent] == 1)
  }

  @Test("a day's ledger that is refilled twice within a day is overspent")
  func refilled() {
    var day = Day(charges: 5)
    for (i, left) in [4, 4, 4, 3, 2].enumerated() { day.commands[i].charged[0].left = left }
    #expect(day.check().violationsByRule[.overspent] == 1)
  }
}
