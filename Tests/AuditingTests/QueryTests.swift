import Domain
import JSON
import Testing

@testable import Auditing

/// The questions about a small story: a delay is deferred and then sent together with a gate change, a tablet waits, and a
/// third event is not visible.
@Suite("Questions and their answers") struct QueryTests {
  private func story() throws -> AuditStore {
    let t = Sample.start
    let store = try AuditStore.open(path: ":memory:")
    let decisions = [
      Sample.decision(
        10, event: "delay", verdict: .defer, reason: .belowPrice, final: false, at: t, wrong: 0.36,
        looks: 0.5, value: 0.108, price: 0.27, relevance: 0.2, left: 11, until: t + .minutes(5)),
      Sample.decision(
        11, event: "delay", device: "tablet", instance: "w9", verdict: .defer, reason: .budgetDevice, final: false,
        at: t,
        value: 0.7, price: 0.3, left: 4, until: t + .minutes(20)),
      Sample.decision(
        12, event: "boarding", verdict: .suppress, reason: .notVisible, at: t + .minutes(1), wrong: 0,
        looks: 0, value: 0, price: 0),
      Sample.decision(
        13, event: "gate", verdict: .emit, reason: .emitted, at: t + .minutes(3), looks: 1.25, value: 0.64,
        price: 0.31, left: 10, command: "c-0-13-0", events: ["delay", "gate"]),
      Decision(
        decision: "d-0-13-1", event: "delay", events: ["delay", "gate"], device: "phone", instance: "w1",
        kind: "FlightStatus", surface: .widget, verdict: .coalesce, reason: .emittedCoalesced, final: true,
        at: t + .minutes(3), relevance: 0.2, wrong: 0.64, looks: 1.25, value: 0.64, price: 0.31,
        tokensLeft: Decision.TokensLeft(instance: 10, device: 2), command: "c-0-13-0", policy: Sample.policy),
    ]
    let command = Sample.command(
      13, at: t + .minutes(3),
      serves: [
        Command.Served(instance: "w1", kind: "FlightStatus", events: ["delay", "gate"], reason: .emitted)
      ])
    try store.store(AuditBatch(decisions, [command]))
    return store
  }

  @Test("why lists every decision, the push, its charges and the change that would have led to another decision")
  func why() throws {
    let answer = try story().why(WhyQuestion(device: "phone", event: "delay"))
    #expect(
      AuditText.render(answer) == """
        device phone, event delay

        FlightStatus w1 (widget)
          shown after 3 min by command c-0-13-0: sent with a push to this instance that another event caused, at the same instant or later
          2026-11-20T14:00:00Z  defer BELOW_PRICE  d-0-10-0
            worth 0.108: 0.5 looks in the next 20 minutes, the screen 36 % wrong; a token costs 0.27, 11 tokens left; examined again by 2026-11-20T14:05:00Z
            it would have been sent had it been worth 0.162 more: with 1.25 looks instead of 0.5, or with the screen 66 % wrong
          2026-11-20T14:03:00Z  coalesce EMITTED_COALESCED  d-0-13-1
            sent with a push to this instance that another event caused, at the same instant or later
            shows, too: gate
          push c-0-13-0 at 2026-11-20T14:03:00Z, worth sending until 2026-11-20T14:33:00Z
            charged  instance w1   11  ->  10
            charged  device phone   3  ->   2
          policy 2026-11-20.1 (0123456789abcdef); what to do: nothing; merging is how a budget goes far

        """)
  }

  @Test("why says how many events of a push its list leaves out")
  func leftOut() throws {
    let store = try AuditStore.open(path: ":memory:")
    let decision = Sample.decision(
      1, verdict: .emit, reason: .emitted, command: "c-0-1-0", events: ["e1", "e2"])
    let served = Command.Served(
      instance: "w1", kind: "FlightStatus", events: ["e1", "e2"], eventsLeftOut: 40, reason: .emitted)
    try store.store(AuditBatch([decision], [Sample.command(1, serves: [served])]))
    let text = AuditText.render(try store.why(WhyQuestion(device: "phone", event: "e1"))).description
    #expect(text.contains("\n    shows 2 events that it names, and 40 more\n"))
  }

  @Test("why names the limit that holds a pending event back")
  func whyNot() throws {
    let answer = try story().why(WhyQuestion(device: "tablet"))
    let story = try #require(answer.stories.first)
    #expect(answer.event == "delay" && story.command == nil)
    #expect(
      story.outcome
        == "still waiting: the device has 2 tokens for a push left now; worth 0.7 with the other widgets that the push"
        + " would reload, 0.41 for this one: 0.8 looks in the next 20 minutes, the screen 64 % wrong;"
        + " examined again by 2026-11-20T14:20:00Z")
    #expect(
      story.steps[0].counterfactual
        == "without this limit it would have been sent: worth 0.7, and the push costs 0.3")
  }

  @Test("without a decision, why reports whether the device and the event are known")
  func whyUnknown() throws {
    let store = try story()
    #expect(
      AuditText.render(try store.why(WhyQuestion(device: "tablet", event: "gate"))) == """
        device tablet, event gate
          no decision is stored for this
          - device tablet is known: 1 decision from 2026-11-20T14:00:00Z to 2026-11-20T14:00:00Z
          - event gate is known: 1 decision on 1 device, the first at 2026-11-20T14:03:00Z
          - at that time no instance in question was interested in the event's keys, no rule made a key for it, or the device was not registered yet
          - the store holds decisions from 2026-11-20T14:00:00Z to 2026-11-20T14:03:00Z

        """)
    let neither = try store.why(WhyQuestion(device: "watch", event: "goal"))
    #expect(!neither.deviceIsKnown && !neither.eventIsKnown && neither.remarks.count == 3)
    let instance = try store.why(WhyQuestion(device: "phone", instance: "w7", event: "delay"))
    #expect(
      instance.remarks[1] == "no decision names that instance or kind; the device's instances are: FlightStatus w1")
  }

  @Test("why at a moment is about the last event that was decided by then")
  func whyAt() throws {
    let store = try story()
    #expect(try store.why(WhyQuestion(device: "phone", at: Sample.start + .minutes(2))).event == "boarding")
    #expect(try store.why(WhyQuestion(device: "phone", at: Sample.start)).event == "delay")
    #expect(try store.why(WhyQuestion(device: "phone", at: Sample.start - .minutes(1))).stories.isEmpty)
  }

  @Test("a device's time line, cut to the latest entries")
  func device() throws {
    let store = try story()
    #expect(
      AuditText.render(try store.device("phone", limit: 3)) == """
        device phone: 3 entries
          (2 older entries left out)
          time                  verdict   reason             kind          instance  event  worth  price  left  command
          2026-11-20T14:03:00Z  push      widget             FlightStatus                                       c-0-13-0 left: instance 10, device 2
          2026-11-20T14:03:00Z  emit      EMITTED            FlightStatus  w1        gate    0.64   0.31    10  c-0-13-0
          2026-11-20T14:03:00Z  coalesce  EMITTED_COALESCED  FlightStatus  w1        delay   0.64   0.31    10  c-0-13-0

        """)
    let range = TimeRange(from: Sample.start, to: Sample.start + .minutes(3))
    #expect(try store.device("phone", range: range).entries.count == 2)
    #expect(try store.device("watch").isKnown == false)
    #expect(try store.device("phone", limit: 0).omitted == 5)
  }

  @Test("the decisions about an event are counted by verdict and reason")
  func event() throws {
    #expect(
      AuditText.render(try story().event("delay")) == """
        event delay: 3 decisions on 2 devices, 1 command, 1 still waiting
          from 2026-11-20T14:00:00Z to 2026-11-20T14:03:00Z
          decisions  verdict   reason             final  kind          devices, for example
                  1  defer     BUDGET_DEVICE      no     FlightStatus  tablet
                  1  defer     BELOW_PRICE        no     FlightStatus  phone
                  1  coalesce  EMITTED_COALESCED  yes    FlightStatus  phone

        """)
  }

  @Test("the decisions of a command are found by an id of any form")
  func ofCommand() throws {
    let store = try story()
    #expect(try store.decisions(ofCommand: "c-0-13-0").map(\.decision) == ["d-0-13-0", "d-0-13-1"])
    try store.store(AuditBatch([Sample.decision(20, command: "c-7-1-1"), Sample.decision(21, command: "by hand")]))
    #expect(try store.decisions(ofCommand: "c-7-1-1").map(\.decision) == ["d-0-20-0"])
    #expect(try store.decisions(ofCommand: "by hand").map(\.decision) == ["d-0-21-0"])
    #expect(try store.decisions(ofCommand: "unheard of").isEmpty)
    #expect(try store.command("c-0-13-0")?.charged.count == 2)
  }

  @Test("the summary shows the share of changes in time by window, and how fast the error budget is spent")
  func attainment() throws {
    let store = try AuditStore.open(path: ":memory:")
    var batch = AuditBatch()
    // The newest record is 100 h after the first one.
    for (n, hours) in [0, 0, 50, 98, 100, 100, 100, 100].enumerated() {
      let at = Sample.start + .hours(Int64(hours)) + .minutes(Int64(n))
      batch.append(Sample.decision(n, at: at, objective: n % 4 == 1 ? .missed : .met))
    }
    batch.append(Sample.decision(90, kind: "Board", at: Sample.start, objective: .missed))
    batch.append(Sample.decision(91, at: Sample.start))
    try store.store(batch)
    let summary = try store.summary()
    #expect(summary.attainments.map(\.kind) == ["Board", "FlightStatus"])
    let counts = try #require(summary.attainments.last).counts
    #expect(counts.map(\.minutes) == [5, 30, 60, 360, 4320, nil])
    #expect(counts.map(\.changes) == [4, 4, 4, 5, 6, 8])
    #expect(counts.map(\.inTime) == [3, 3, 3, 4, 5, 6])
    #expect(
      counts.compactMap { $0.burn(share: 0.75).map { ($0 * 1000).rounded() } } == [1000, 1000, 1000, 800, 667, 1000])
    #expect(AuditSummary.Attainment.WindowCounts().burn(share: 0.75) == nil)
    #expect(summary.attainments.first?.counts.map(\.changes) == [0, 0, 0, 0, 0, 1])
    #expect(summary.outcomes.map(\.decisions) == [10], "results against objectives do not split the outcomes")
    let text = AuditText.render(summary, shares: ["FlightStatus": 0.75]).description
    #expect(
      text.hasSuffix(
        """

        changes in time  objective  window       in time  changes   burn
        Board                    -  last 5 min         -        0      -
        Board                    -  last 30 min        -        0      -
        Board                    -  last hour          -        0      -
        Board                    -  last 6 h           -        0      -
        Board                    -  last 72 h          -        0      -
        Board                    -  whole store    0.0 %        1      -
        FlightStatus          75 %  last 5 min    75.0 %        4      1
        FlightStatus          75 %  last 30 min   75.0 %        4      1
        FlightStatus          75 %  last hour     75.0 %        4      1
        FlightStatus          75 %  last 6 h      80.0 %        5    0.8
        FlightStatus          75 %  last 72 h     83.3 %        6  0.667
        FlightStatus          75 %  whole store   75.0 %        8      1

        """), "\(text)")
    let json = AuditJSON.render(summary, shares: ["FlightStatus": 0.75])
    #expect(json.contains(#""objective": 0.75"#) && json.contains(#""minutes": 4320"#) && json.contains(#""burn": 1"#))
    #expect(try store.event("e-1").counts.allSatisfy { $0.decisions > 0 })
    #expect(try store.brokenInvariants() == [])
  }

  @Test("windows of objectives slide: they end with the newest decision or at the asked time, not with an hour")
  func slidingWindows() throws {
    let store = try AuditStore.open(path: ":memory:")
    var batch = AuditBatch()
    let half = Sample.start + .minutes(30)
    // One exactly an hour before the newest, one a microsecond after that, and one at 4 minutes before the newest.
    let times = [half, half + TimeSpan(microseconds: 1), half + .minutes(56), half + .minutes(60)]
    for (n, at) in times.enumerated() {
      batch.append(Sample.decision(n, at: at, objective: n == 0 ? .missed : .met))
    }
    try store.store(batch)
    func changes(until end: Timestamp? = nil) throws -> [Int] {
      try #require(store.summary(until: end).attainments.first).counts.map(\.changes)
    }
    #expect(try changes() == [2, 2, 3, 4, 4, 4])
    #expect(try changes(until: half + .minutes(56)) == [1, 1, 3, 3, 3, 4])
    #expect(try changes(until: half + .minutes(65)) == [0, 2, 2, 4, 4, 4])
    #expect(try changes(until: half + .hours(100)) == [0, 0, 0, 0, 0, 4])
    #expect(try store.summary(hasAttainments: false).attainments.isEmpty)
  }

  @Test("the most frequent values of every key, and the summary")
  func top() throws {
    let store = try story()
    #expect(
      try store.top(by: .verdict).rows == [
        Top.Row(name: "defer", decisions: 2), Top.Row(name: "coalesce", decisions: 1),
        Top.Row(name: "emit", decisions: 1),
        Top.Row(name: "suppress", decisions: 1),
      ])
    #expect(
      try store.top(by: .device, limit: 1)
        == Top(key: .device, rows: [Top.Row(name: "phone", decisions: 4)], total: 5, distinct: 2))
    #expect(try store.top(by: .event).rows.map(\.name) == ["delay", "boarding", "gate"])
    #expect(try store.top(by: .kind).rows == [Top.Row(name: "FlightStatus", decisions: 5)])
    var summary = try store.summary()
    summary.bytes = 1_234_567
    #expect(
      AuditText.render(summary) == """
        time       2026-11-20T14:00:00Z to 2026-11-20T14:03:00Z
        events     3 with a decision
        devices    2
        decisions  5 (3 of them final)
        commands   1  widget 1
        tokens     instance 1  device 1
        store      1,234,567 bytes

        decisions   share  final  verdict   reason
                1  20.0 %      1  suppress  NOT_VISIBLE
                1  20.0 %      0  defer     BUDGET_DEVICE
                1  20.0 %      0  defer     BELOW_PRICE
                1  20.0 %      1  emit      EMITTED
                1  20.0 %      1  coalesce  EMITTED_COALESCED

        """)
  }

  @Test("the counts of any time range equal the number of its rows", arguments: [7, 8] as [UInt64])
  func ranges(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let store = try AuditStore.open(path: ":memory:")
    let decisions = (0..<300).map { n in
      Sample.decision(
        n, event: "e\(n % 7)", reason: Reason.allCases[n % 5],
        at: Sample.start + TimeSpan(microseconds: Int64.random(in: 0..<36_000_000_000, using: &random)))
    }
    for (index, part) in [decisions[..<150], decisions[150...]].enumerated() {
      store.sequenceFloor = Int64(index) << AuditSchema.blockShift
      try store.store(AuditBatch(Array(part)))
    }
    for _ in 0..<40 {
      let ends = [0, 1].map { _ in
        Sample.start + TimeSpan(microseconds: Int64.random(in: 0..<36_000_000_000, using: &random))
      }.sorted()
      let range = TimeRange(
        from: Bool.random(using: &random) ? ends[0] : nil, to: Bool.random(using: &random) ? ends[1] : nil)
      let expected = decisions.count { range.contains($0.at.microseconds) }
      for key in Top.Key.allCases {
        #expect(try store.top(by: key, range: range).total == expected, "seed \(seed), \(range), \(key)")
      }
      #expect(try store.everything(range).count == expected)
      #expect(try store.device("phone", range: range, limit: 1000).entries.count == expected)
    }
  }

  @Test("a budget statement reads like one of a bank, by local day")
  func statement() throws {
    let store = try AuditStore.open(path: ":memory:")
    let lefts = [11, 10, 13]
    try store.store(
      AuditBatch([], lefts.enumerated().map { Sample.command($0, at: Sample.start + .hours(Int64($0) * 4), left: $1) }))
    let text = AuditText.render(try store.statement("phone", utcOffset: .hours(3))).description
    #expect(
      text.hasPrefix(
        """
        device phone: 3 commands (0 of them free)

        instance w1
          time                  left  change  charged for             command
          opening                 12
          2026-11-20T14:00:00Z    11          FlightStatus (1 event)  c-0-0-0
          2026-11-20T18:00:00Z    10          FlightStatus (1 event)  c-0-1-0
          2026-11-20T22:00:00Z    13      +4  FlightStatus (1 event)  c-0-2-0
          charges by day (UTC+3): 2026-11-20 2, 2026-11-21 1

        device phone
        """))
  }

  @Test("a statement counts the events whose decisions name a push, also those that joined it at its log time")
  func joinedEvents() throws {
    let store = try AuditStore.open(path: ":memory:")
    let decisions = [
      Sample.decision(1, verdict: .emit, reason: .emitted, command: "c-0-0-0"),
      Sample.decision(2, event: "late", verdict: .coalesce, reason: .emittedCoalesced, command: "c-0-0-0"),
      Sample.decision(
        3, event: "late", instance: "w2", verdict: .coalesce, reason: .emittedCoalesced, command: "c-0-0-0"),
      Sample.decision(4, event: "other"),
    ]
    try store.store(
      AuditBatch(decisions, [Sample.command(0), Sample.command(1, at: Sample.start + .hours(1), left: 9)]))
    let statement = try store.statement("phone")
    #expect(statement.accounts.map { $0.lines.map(\.events) } == [[2, 1], [2, 1]])
  }

  @Test("answers as JSON are indented, and exported lines have the form of the topics")
  func json() throws {
    let store = try story()
    let reader = JSONReader()
    for entry in try store.everything() {
      let line = Array(AuditJSON.line(entry).utf8)
      switch entry {
      case .decision(let decision): #expect(try Decision(json: line, reader: reader) == decision)
      case .command(let command): #expect(try Command(json: line, reader: reader) == command)
      }
    }
    let why = AuditJSON.render(try store.why(WhyQuestion(device: "phone")))
    #expect(why.contains(#""eventKnown": true"#) && why.contains(#""reason": "EMITTED_COALESCED""#))
    #expect(AuditJSON.render(try store.summary()).contains(#""decisions": 5"#))
  }
}

@Suite struct ReasonTextTests {
  @Test("every reason has a sentence and an advice that contain no Swift name")
  func everyReason() {
    for reason in Reason.allCases {
      let sentence = ReasonText.explanation(Sample.decision(1, reason: reason))
      #expect(sentence.count > 20 && !sentence.contains("Optional") && sentence.last != ".")
      #expect(!reason.advice.isEmpty)
    }
  }

  @Test("worth and price are told in looks, with their parts")
  func looks() {
    let sent = Sample.decision(1, verdict: .emit, reason: .emitted, price: 0.07)
    #expect(
      ReasonText.explanation(sent)
        == "sent; worth 0.41: 0.8 looks in the next 20 minutes, the screen 64 % wrong; a token costs 0.07,"
        + " 11 tokens left")
    #expect(ReasonText.counterfactual(sent) == "it would have waited had it been worth 0.34 less")
  }

  @Test("while tokens suffice they cost nothing, and a push never waits for its worth")
  func free() {
    let sent = Sample.decision(1, verdict: .emit, reason: .emitted, price: 0)
    #expect(ReasonText.explanation(sent).hasSuffix("wrong; a token costs 0, 11 tokens left"))
    #expect(ReasonText.counterfactual(sent) == nil)
    let held = Sample.decision(1, verdict: .defer, reason: .minInterval, final: false, price: 0)
    #expect(
      ReasonText.counterfactual(held) == "without this limit it would have been sent: worth 0.41, and a token costs 0")
  }

  @Test("a push that was not weighed has no worth to tell")
  func notWeighed() {
    let free = Sample.decision(1, verdict: .emit, reason: .emitted, wrong: 0, looks: 0, value: 0, price: 0)
    #expect(ReasonText.explanation(free) == "sent; its worth was not weighed")
    #expect(ReasonText.counterfactual(free) == nil)
  }

  @Test(
    "the change that would have been enough is named, and one that cannot be is not",
    arguments: [
      (
        0.64, 0.8, 0.4096, 0.8192,
        "worth 0.41 more: with 1.6 looks instead of 0.8; not even a screen that is all wrong would have been enough"
      ),
      (0.04, 1, 0.008, 0.216, "worth 0.208 more: with 27 looks instead of 1, or with the screen 36 % wrong"),
      (0.5, 0, 0, 0.2, "worth 0.2 more: nobody is expected to look at that hour"),
      (0, 0.8, 0.3, 0.5, "worth 0.2 more"),
    ])
  func enough(wrong: Double, looks: Double, value: Double, price: Double, text: String) throws {
    let decision = Sample.decision(
      1, verdict: .defer, reason: .belowPrice, final: false, wrong: wrong, looks: looks, value: value, price: price)
    let enough = try #require(ReasonText.counterfactual(decision))
    #expect(enough == "it would have been sent had it been \(text)")
  }

  @Test("an event that ended while it waited is told by the step that held it back last, with the end of a limit")
  func ended() throws {
    func sentence(_ reason: Reason, _ held: [Decision], after minutes: Int64 = 30) -> String? {
      let last = Sample.decision(
        9, reason: reason, at: Sample.start + .minutes(minutes), wrong: 0, looks: 0, value: 0, price: 0)
      return ReasonText.counterfactual((held + [last])[...])
    }
    func held(_ reason: Reason, value: Double = 0.4096, until: Int64? = nil) -> Decision {
      Sample.decision(
        1, verdict: .defer, reason: reason, final: false, wrong: value == 0 ? 0 : 0.64, looks: value == 0 ? 0 : 0.8,
        value: value, price: value == 0 ? 0 : 0.07, until: until.map { Sample.start + .minutes($0) })
    }
    let at = Figure.time(Sample.start)
    let (soon, end) = (Figure.time(Sample.start + .minutes(20)), "when it last waited, at \(at)")
    #expect(
      sentence(.expired, [held(.belowPrice), held(.minInterval, until: 20)])
        == "\(end) (MIN_INTERVAL), without this limit it would have been sent: worth 0.41, and a token costs 0.07; the limit was over at \(soon)"
    )
    #expect(
      sentence(.expired, [held(.quietHours, value: 0, until: 30)])
        == "\(end) (QUIET_HOURS), without this limit its worth and its price would have decided; the limit lasted longer than the event"
    )
    let priced = Sample.decision(
      1, verdict: .defer, reason: .belowPrice, final: false, wrong: 0.04, looks: 1, value: 0.008, price: 0.216)
    for reason in [Reason.expired, .superseded, .instanceRemoved] {
      #expect(
        sentence(reason, [priced])
          == "\(end) (BELOW_PRICE), it would have been sent had it been worth 0.208 more: with 27 looks instead of 1, or with the screen 36 % wrong"
      )
    }
    #expect(sentence(.expired, []) == "with a longer maxAge or halfLife it would have gone on waiting")
    #expect(sentence(.superseded, []) == nil)
  }

  @Test(
    "each change that was lost without having waited says what would have had it weighed",
    arguments: Reason.allCases.filter { $0.outcome == .lost && $0 != .instanceRemoved })
  func lost(_ reason: Reason) throws {
    let decision = Sample.decision(1, reason: reason, wrong: 0, looks: 0, value: 0, price: 0)
    let words = try #require(ReasonText.counterfactual([decision][...]))
    #expect(words.hasPrefix("with ") && words.last != ".", "\(words)")
  }

  @Test("no sentence and no advice names a key that a policy does not have", arguments: Reason.allCases)
  func ownKeys(_ reason: Reason) {
    let words = [ReasonText.explanation(Sample.decision(1, reason: reason)), reason.advice, reason.meaning].joined(
      separator: "\n")
    for old in ["floor", "base price", "price.base", "θ", "decay", "token was worth"] {
      #expect(!words.contains(old), "\(old)")
    }
  }

  @Test(
    "numbers and times read well",
    arguments: [
      (0.12, "0.12"), (0, "0"), (1, "1"), (0.3104, "0.31"), (0.00042, "0.00042"), (-2.5, "-2.5"), (12.9996, "13"),
    ])
  func decimals(value: Double, text: String) {
    #expect(Figure.decimal(value) == text)
  }

  @Test("times are RFC 3339 in UTC, those before 1970 too")
  func times() {
    #expect(Figure.time(Sample.start) == "2026-11-20T14:00:00Z")
    #expect(Figure.time(Timestamp(microseconds: -1)) == "1969-12-31T23:59:59.999999Z")
    #expect(Figure.time(Timestamp(microseconds: 951_782_400_500_000)) == "2000-02-29T00:00:00.500Z")
    #expect(Figure.span(.minutes(65)) == "1 h 5 min")
  }
}
