import Domain
import JSON
import Testing
import Verification

@Suite("the check of the ledgers")
struct LedgerCheckTests {
  private static let policy = PolicyReference(version: "1", hash: "0123456789abcdef")
  private static let noon: Int64 = 1_782_907_200_000_000
  private static let second: Int64 = 1_000_000

  /// The records of one device with one widget: charges a second apart, each for a different event.
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
            surface: .widget, verdict: .emit, reason: .emitted, final: true, at: at, relevance: 1, wrong: 1, looks: 1,
            value: 1, price: 1,
            tokensLeft: Decision.TokensLeft(), command: "c-0-\(i)-0", policy: policy))
      }
    }

    /// - Parameters:
    ///   - twice: whether every record is added twice.
    ///   - countsTimelines: whether reloads that no command led to take tokens, too.
    func check(twice: Bool = false, countsTimelines: Bool = false) throws -> LedgerReport {
      let limits = LedgerLimits(
        rates: [.device: [LedgerLimits.RateLimit(limit: 1, windowMicroseconds: second, burst: 3)]],
        days: ["K": LedgerLimits.DailyNumber(perDay: 5, isRolling: false, countsTimelines: countsTimelines)])
      var check = LedgerCheck(limits: [policy.hash: limits])
      for _ in 0..<(twice ? 2 : 1) {
        for decision in decisions { check.add(decision: decision.json(), place: "decisions") }
        for command in commands.reversed() { check.add(command: command.json(), place: "commands") }
      }
      return try check.finish()
    }
  }

  @Test("a report describes as many cases of a broken rule as it is asked for, and counts them all")
  func examples() throws {
    var check = LedgerCheck(examplesMax: 2)
    for number in 0..<3 { check.add(decision: Array("{\(number)".utf8), place: "line \(number)") }
    let report = try check.finish()
    #expect(
      report.violationCount == 3 && report.violations.count == 2 && report.text.description.contains("… and 1 more"))
  }

  @Test("decisions are read from blocks; each wrong line and a wrong header are a violation with its place")
  func blocks() throws {
    let day = Day(charges: 2)
    let lines = day.decisions.map { $0.json() }
    func report(_ value: [UInt8], _ count: String?) throws -> LedgerReport {
      var check = LedgerCheck()
      check.add(DecisionBlock(value, count: count.map { Array($0.utf8) }), place: "decisions[0]@7")
      for command in day.commands { check.add(command: command.json(), place: "commands") }
      return try check.finish()
    }
    let whole = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    let good = try report(whole, "2")
    #expect(good.violationCount == 0 && good.decisions == 2)
    for (value, count, words) in [
      (whole, "3", "decisions at decisions[0]@7: the header rouse-decisions says 3, and the record has 2 lines"),
      (whole, nil, "decisions at decisions[0]@7: the record has no header rouse-decisions"),
      (whole + [UInt8(ascii: "\n")], "3", "decision at decisions[0]@7 line 3: "),
      (whole.dropLast(), "2", "decision at decisions[0]@7 line 2: "),
      ([], "1", "decision at decisions[0]@7 line 1: "),
    ] as [([UInt8], String?, String)] {
      let report = try report(Array(value), count)
      #expect(report.violationCount > 0 && report.text.description.contains(words), "\(report.text)")
    }
  }

  @Test("a command that is larger than any record from outside is read")
  func large() throws {
    var day = Day(charges: 1)
    let value = String(repeating: "v", count: DomainBounds.fieldBytesMax)
    day.commands[0].apns.headers = (0..<300).map { Command.Header(name: "header-\(100 + $0)", value: value) }
    #expect(day.commands[0].json().count > DomainBounds.recordBytesMax)
    #expect(try day.check().violationCount == 0)
  }

  @Test("correct books have no violation, in any order and with records repeated")
  func right() throws {
    let report = try Day(charges: 5).check(twice: true)
    #expect(report.violationCount == 0, "\(report.text)")
    #expect(report.decisions == 5 && report.commands == 5 && report.closed == 5)
    #expect(report.repeatedDecisions == 5 && report.repeatedCommands == 5)
    #expect(report.chargesRecomputed == 5 && report.ledgers == 2)
  }

  @Test("each kind of violation is found")
  func wrong() throws {
    func rules(_ change: (inout Day) -> Void) throws -> Set<LedgerReport.BookRule> {
      var day = Day(charges: 5)
      change(&day)
      return Set(try day.check().violationsByRule.keys)
    }
    #expect(try rules { $0.commands.remove(at: 2) } == [.missingCommand, .ledgerBroken])
    #expect(try rules { $0.decisions.remove(at: 2) } == [.unexplainedCommand, .servesDiffer])
    #expect(try rules { $0.decisions[1].event = "e0" }.contains(.decidedTwice))
    #expect(try rules { $0.decisions[1].final = false } == [.inconsistent])
    #expect(try rules { $0.decisions[1].command = nil }.contains(.inconsistent))
    #expect(try rules { $0.decisions[1].device = "other" }.contains(.servesDiffer))
    #expect(try rules { $0.commands[1].serves[0].events.append("e9") } == [.servesDiffer])
    #expect(try rules { $0.commands[1].charged[0].left = 1 }.contains(.ledgerBroken))
    #expect(try rules { $0.commands[4].charged[0].left = -1 }.contains(.overspent))
    #expect(try rules { $0.commands[3].charged[1].left = 1 } == [.ledgerBroken])
    #expect(
      try rules { day in
        var other = day.decisions[0]
        other.reason = .emittedAfterDefer
        day.decisions.append(other)
      } == [.idReused])
  }

  @Test(
    "the timeline's own reloads may take tokens of an instance that no decision has named, if the policy counts them")
  func unnamedInstance() throws {
    var day = Day(charges: 3)
    for (i, left) in [4, 3, 1].enumerated() {
      day.commands[i].charged.append(Command.Charge(ledger: .instance, owner: "unnamed", left: left))
    }
    #expect(Set(try day.check().violationsByRule.keys) == [.ledgerBroken])
    #expect(try day.check(countsTimelines: true).violationCount == 0)
  }

  @Test("a command may count events instead of listing them, if its decisions name as many more")
  func eventsLeftOut() throws {
    func rules(_ leftOut: Int, listed: [Identifier], decided: [Identifier]) throws -> Set<LedgerReport.BookRule> {
      var day = Day(charges: 1)
      day.commands[0].serves[0].events = listed
      day.commands[0].serves[0].eventsLeftOut = leftOut
      day.decisions[0].events = decided
      for event in decided where event != day.decisions[0].event {
        var merged = day.decisions[0]
        (merged.event, merged.events) = (event, [event])
        merged.decision = "d-0-0-\(day.decisions.count + 1)"
        (merged.verdict, merged.reason) = (.coalesce, .emittedCoalesced)
        day.decisions.append(merged)
      }
      return Set(try day.check().violationsByRule.keys)
    }
    #expect(try rules(2, listed: ["b", "e0"], decided: ["x", "a", "b", "e0"]) == [])
    #expect(try rules(1, listed: ["b", "e0"], decided: ["x", "a", "b", "e0"]) == [.servesDiffer])
    #expect(try rules(0, listed: ["b", "e0"], decided: ["x", "a", "b", "e0"]) == [.servesDiffer])
    #expect(try rules(2, listed: ["c", "e0"], decided: ["x", "a", "b", "e0"]) == [.servesDiffer])
    #expect(try rules(-1, listed: ["b", "e0"], decided: ["e0"]) == [.servesDiffer])
    #expect(try rules(.max, listed: ["b", "e0"], decided: ["b", "e0"]) == [.servesDiffer])
  }

  /// A widget of kind `K` waits since before a background push for a widget of kind `L`.
  private struct Background {
    var day = Day(charges: 1)

    init() {
      var waits = day.decisions[0]
      (waits.decision, waits.event, waits.events) = ("d-0-0-0", "waits", ["waits"])
      (waits.verdict, waits.reason, waits.final, waits.command) = (.defer, .minInterval, false, nil)
      waits.at = waits.at - .seconds(1)
      waits.tokensLeft.instance = 3
      day.decisions.append(waits)
      // Its next decision, which is about another event.
      (waits.decision, waits.event, waits.events) = ("d-0-3-0", "next", ["next"])
      waits.at = waits.at + .minutes(10)
      day.decisions.append(waits)
      day.decisions[0].instance = "v"
      day.decisions[0].kind = "L"
      day.decisions[0].surface = .background
      day.decisions[0].decision = "d-0-1-1"
      day.decisions[0].command = "c-0-1-0"
      day.commands[0].command = "c-0-1-0"
      day.commands[0].surface = .background
      day.commands[0].serves[0].instance = "v"
      day.commands[0].serves[0].kind = "L"
      day.commands[0].charged = [
        Command.Charge(ledger: .instance, owner: "v", left: 4),
        Command.Charge(ledger: .background, owner: "d", left: 2),
      ]
      names("L")
    }

    mutating func names(_ kinds: String) {
      day.commands[0].apns.payload =
        #"{"aps":{"content-available":1},"rouse":{"kinds":["#
        + kinds.split(separator: " ").map { "\"\($0)\"" }
        .joined(separator: ",") + "]}}"
    }

    mutating func charges(_ instance: Identifier) {
      day.commands[0].charged.insert(Command.Charge(ledger: .instance, owner: instance, left: 4), at: 1)
    }
  }

  @Test("a background push charges the widgets of the kinds that it names, and no others")
  func background() throws {
    func findings(_ change: (inout Background) -> Void) throws -> [String] {
      var background = Background()
      change(&background)
      let report = try background.day.check()
      #expect(Set(report.violationsByRule.keys).isSubset(of: [.chargesDiffer]), "\(report.text)")
      return report.violations.map(\.text)
    }
    #expect(try findings { _ in } == [])
    #expect(
      try findings { $0.charges("w") } == ["the payload of c-0-1-0 names L, but the command charges w of kind K"])
    #expect(try findings { $0.charges("unknown") } == [], "it may be a widget of the kind to which nothing happened")
    #expect(
      try findings { $0.names("K L") } == [
        "the payload of c-0-1-0 names K, L, but the command does not charge w of kind K, on which events wait"
      ])
    for (left, at) in [(0, .minutes(10)), (4, .minutes(10)), (3, .hours(2))] as [(Int, TimeSpan)] {
      #expect(
        try findings {
          $0.names("K L")
          $0.day.decisions[2].tokensLeft.instance = left
          $0.day.decisions[2].at = $0.day.commands[0].at + at
        } == [], "it may have had no token")
    }
    #expect(
      try findings {
        $0.names("K L")
        for place in 1...2 { $0.day.decisions[place].surface = .control }
      } == [], "a control is pushed to alone, whatever its kind is called")
    #expect(
      try findings {
        $0.names("K L")
        var end = $0.day.decisions[1]
        (end.decision, end.verdict, end.reason, end.final) = ("d-0-0-5", .suppress, .expired, true)
        $0.day.decisions.append(end)
      } == [], "no event waits any more, and the widget may be gone")
    #expect(
      try findings {
        $0.names("K")
        $0.charges("w")
      } == [
        "the payload of c-0-1-0 names K, but the command serves v of kind L",
        "the payload of c-0-1-0 names K, but the command charges v of kind L",
      ])
    #expect(try findings { $0.day.commands[0].apns.payload = "{}" }.count == 2)
    #expect(try findings { $0.day.commands[0].charged = [] } == [], "nothing is charged in developer mode")
    #expect(
      try findings {
        $0.day.commands[0].surface = .widget
        $0.day.commands[0].charged[0].owner = "w"
      } == ["c-0-1-0 serves v and does not charge it"])
  }

  @Test("an event at the instant of a push may be merged into it, also for an instance that the push only charged")
  func joined() throws {
    func rules(_ change: (inout Decision) -> Void) throws -> Set<LedgerReport.BookRule> {
      var day = Day(charges: 2)
      day.commands[0].charged.insert(Command.Charge(ledger: .instance, owner: "w2", left: 4), at: 1)
      var joined = day.decisions[0]
      (joined.decision, joined.event, joined.events) = ("d-0-7-0", "late", ["late"])
      (joined.verdict, joined.reason) = (.coalesce, .emittedCoalesced)
      change(&joined)
      day.decisions.append(joined)
      return Set(try day.check().violationsByRule.keys)
    }
    #expect(try rules { _ in } == [])
    #expect(try rules { $0.instance = "w2" } == [])
    #expect(try rules { $0.instance = "w3" } == [.servesDiffer])
    #expect(try rules { $0.at = $0.at + .seconds(1) } == [.servesDiffer])
    #expect(try rules { ($0.at, $0.instance) = ($0.at + .seconds(1), "w2") } == [.servesDiffer])
    #expect(try rules { $0.reason = .emittedShared } == [.servesDiffer])
    #expect(try rules { $0.event = "e0" }.contains(.decidedTwice))
  }

  @Test(
    "an instance that no decision names may have a rolling day, if a kind of the policy has one",
    arguments: [true, false, nil])
  func unnamedInstance(isRolling: Bool?) throws {
    var day = Day(charges: 6)
    for i in day.commands.indices {
      // Three in three minutes, and again when those are 24 hours old.
      let at = Timestamp(microseconds: Self.noon) + .hours(Int64(i / 3 * 24)) + .minutes(Int64(i % 3))
      (day.commands[i].at, day.decisions[i].at) = (at, at)
      day.commands[i].charged = [Command.Charge(ledger: .instance, owner: "beside", left: max(0, 2 - i))]
    }
    func overspent() throws -> Int? {
      let days = isRolling.map { ["L" as Identifier: LedgerLimits.DailyNumber(perDay: 3, isRolling: $0)] }
      var check = LedgerCheck(limits: days.map { [Self.policy.hash: LedgerLimits(days: $0)] } ?? [:])
      for decision in day.decisions { check.add(decision: decision.json(), place: "decisions") }
      for command in day.commands { check.add(command: command.json(), place: "commands") }
      return try check.finish().violationsByRule[.overspent]
    }
    // In a calendar day, the third token of the second day is one too many: two of three charges would begin a day.
    #expect(try overspent() == (isRolling == false ? 1 : nil))
    day.commands[5].charged[0].left = 1
    #expect(try overspent() == 1, "24 hours have no fourth token")
  }

  @Test("an instance whose charges are not those of a rolling day has no rolling day later")
  func unnamedCalendarDay() throws {
    var day = Day(charges: 7)
    // Three tokens a calendar day: the first one of the second day is the fifth token of 24 hours. The last one is too many, although it
    // leaves as many as the one before in as many hours.
    for (i, (minutes, left)) in [(600, 2), (630, 1), (1440, 2), (1500, 1), (1560, 0), (2055, 0), (2085, 0)].enumerated()
    {
      let at = Timestamp(microseconds: Self.noon) + .minutes(Int64(minutes))
      (day.commands[i].at, day.decisions[i].at) = (at, at)
      day.commands[i].charged = [Command.Charge(ledger: .instance, owner: "beside", left: left)]
    }
    var check = LedgerCheck()
    for decision in day.decisions { check.add(decision: decision.json(), place: "decisions") }
    for command in day.commands { check.add(command: command.json(), place: "commands") }
    #expect(try check.finish().violationsByRule[.overspent] == 1)
  }

  @Test("a charge one microsecond too early exceeds the rate")
  func rate() throws {
    var day = Day(charges: 5)
    // Three at once empty the burst; the next is due a second later.
    for i in 0..<5 {
      day.commands[i].at = Timestamp(microseconds: Self.noon + (i < 3 ? 0 : Int64(i - 2) * Self.second))
      day.commands[i].charged[1].left = max(0, 2 - i)
    }
    #expect(try day.check().violationsByRule == [:])
    day.commands[3].at = Timestamp(microseconds: Self.noon + Self.second - 1)
    #expect(try day.check().violationsByRule[.overspent] == 1)
  }

  @Test("a charge after a refund of the last token is allowed only where refunds are")
  func refundedRate() throws {
    let limits = LedgerLimits(rates: [
      .device: [LedgerLimits.RateLimit(limit: 1, windowMicroseconds: 10 * Self.second, burst: 1)]
    ])
    for refundsAllowed in [false, true] {
      var day = Day(charges: 2, burst: 1)
      for i in day.commands.indices { day.commands[i].charged.remove(at: 0) }
      var check = LedgerCheck(limits: [Self.policy.hash: limits], refundsAllowed: refundsAllowed)
      for decision in day.decisions { check.add(decision: decision.json(), place: "decisions") }
      for command in day.commands { check.add(command: command.json(), place: "commands") }
      let report = try check.finish()
      #expect((report.violationsByRule[.overspent] == 1) != refundsAllowed, "\(report.text)")
    }
  }

  @Test("a rate that changes because a person allows frequent updates is no violation")
  func frequentUpdatesAllowed() throws {
    let limits = LedgerLimits(
      rates: [
        .activity: [6, 2].map { LedgerLimits.RateLimit(limit: 1, windowMicroseconds: $0 * Self.second, burst: 3) }
      ])
    func report(left: [Int]) throws -> LedgerReport {
      var day = Day(charges: 4)
      // Two charges at the slow rate, which leave a TAT of 12 s, then two at the fast one.
      for (i, second) in [0, 1, 9, 12].enumerated() {
        day.commands[i].at = Timestamp(microseconds: Self.noon + Int64(second) * Self.second)
        day.commands[i].charged = [Command.Charge(ledger: .activity, owner: "w", left: left[i])]
      }
      var check = LedgerCheck(limits: [Self.policy.hash: limits])
      for decision in day.decisions { check.add(decision: decision.json(), place: "decisions") }
      for command in day.commands { check.add(command: command.json(), place: "commands") }
      return try check.finish()
    }
    let right = try report(left: [2, 1, 0, 1])
    #expect(right.violationCount == 0 && right.chargesRecomputed == 4, "\(right.text)")
    #expect(try report(left: [2, 1, 0, 2]).violationsByRule == [.ledgerBroken: 1])
  }

  @Test("commands under a policy without a limit for the app count when the policy with the limit returns")
  func appLimitComesBack() throws {
    func report(between hash: Identifier) throws -> LedgerReport {
      var day = Day(charges: 3)
      // The second command counts but names no charge, because its policy has no limit.
      for (i, left) in [9, nil, 7].enumerated() {
        day.commands[i].charged = left.map { [Command.Charge(ledger: .app, owner: "a", left: $0)] } ?? []
      }
      day.commands[1].policy = PolicyReference(version: "2", hash: hash)
      var check = LedgerCheck()
      for decision in day.decisions { check.add(decision: decision.json(), place: "decisions") }
      for command in day.commands { check.add(command: command.json(), place: "commands") }
      return try check.finish()
    }
    let right = try report(between: "fedcba9876543210")
    #expect(right.violationCount == 0, "\(right.text)")
    #expect(try report(between: Self.policy.hash).violationsByRule == [.ledgerBroken: 1])
  }

  @Test("a day's ledger that is refilled twice within a day is overspent")
  func refilled() throws {
    var day = Day(charges: 5)
    for (i, left) in [4, 4, 4, 3, 2].enumerated() { day.commands[i].charged[0].left = left }
    #expect(try day.check().violationsByRule[.overspent] == 1)
  }

  @Test("violations are found in records that do not fit into memory, in the ledgers of apps too")
  func onDisk() throws {
    /// Checks 600 commands to 40 devices in turn, each charged to an instance and to the app.
    func report(memoryMax: Int, _ change: (inout [Command]) -> Void = { _ in }) throws -> LedgerReport {
      var commands: [Command] = []
      var check = LedgerCheck(memoryMax: memoryMax)
      for i in 0..<600 {
        let device: Identifier = "d\(i * 7 % 40)"
        var day = Day(charges: 1, perDay: 50)
        day.decisions[0].decision = "d-0-\(i)-1"
        day.decisions[0].event = "e\(i)"
        day.decisions[0].events = ["e\(i)"]
        day.decisions[0].device = device
        day.decisions[0].command = "c-0-\(i)-0"
        day.commands[0].command = "c-0-\(i)-0"
        day.commands[0].device = device
        day.commands[0].at = Timestamp(microseconds: Self.noon + Int64(i) * Self.second)
        day.commands[0].serves[0].events = ["e\(i)"]
        day.commands[0].charged = [
          Command.Charge(ledger: .instance, owner: "w", left: 50 - i / 40),
          Command.Charge(ledger: .app, owner: "a", left: 10_000 - i),
        ]
        check.add(decision: day.decisions[0].json(), place: "decisions")
        commands += day.commands
      }
      change(&commands)
      for command in commands.reversed() { check.add(command: command.json(), place: "commands") }
      return try check.finish()
    }
    let inMemory = try report(memoryMax: LedgerCheck.memoryDefault)
    #expect(inMemory.violationCount == 0, "\(inMemory.text)")
    #expect(inMemory.commands == 600 && inMemory.ledgers == 41 && inMemory.charges == 1200 && inMemory.closed == 600)
    for memoryMax in [1, 5_000, 40_000] { #expect(try report(memoryMax: memoryMax) == inMemory) }
    let changes: [(LedgerReport.BookRule, (inout [Command]) -> Void)] = [
      (.ledgerBroken, { $0[300].charged[1].left = 5 }), (.overspent, { $0[300].charged[1].left = 9_999 }),
      (.missingCommand, { $0.remove(at: 400) }), (.idReused, { $0[7].command = $0[8].command }),
    ]
    for (rule, change) in changes {
      let found = try report(memoryMax: 5_000, change)
      #expect(found.violationsByRule[rule] != nil, "\(found.text)")
      #expect(try report(memoryMax: LedgerCheck.memoryDefault, change) == found)
    }
  }
}
