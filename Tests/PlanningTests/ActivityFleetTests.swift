import Domain
import JSON
import Policies
import Testing

@testable import Planning

/// Days of a simulated fleet: phones whose Live Activities are started by push, the matches that they follow, and all that goes wrong
/// between a planner and a screen. What the phones show is compared with the matches, not with what the planner believes.
@Suite("A day of a fleet's Live Activities") struct ActivityFleetTests {
  @Test("no card is wrong, doubled, started against a person's will or ended while its match goes on")
  func days() throws {
    var sum = ActivityDay.Figures()
    for seed in 0..<max(1, seedCount / 20) {
      var day = try ActivityDay(seed: seed)
      day.run()
      #expect(day.faults.isEmpty, "seed \(seed): \(day.faults.prefix(5).joined(separator: "\n  "))")
      sum.add(day.figures)
      if !day.faults.isEmpty { return }
    }
    print("a fleet's Live Activities: \(sum)")
    // All that can go wrong has gone wrong, and most cards were right nevertheless.
    #expect(sum.starts > 0 && sum.answeredTokens > 0 && sum.checks > 2 * sum.unreachable, "\(sum)")
    for name in [
      "apps killed", "dead tokens", "dismissals", "ends lost", "late events", "late tokens", "pushes lost",
      "receipts lost", "refusals", "refusals for good", "restarts", "second cards", "signals lost",
      "started by the app", "tokens rotated", "tokens that never came",
    ] { #expect(sum.troubles[name, default: 0] > 0, "no \(name): \(sum)") }
  }
}

/// One day, event by event.
private struct ActivityDay {
  private static let yaml = """
    version: 1
    profile: apple-2026
    limits: { activityStarts: { limit: unlimited } }
    kinds:
      Match:
        surface: liveActivity
        halfLife: 20m
        rules:
          - { event: begun, action: start, relevance: { base: 0.9 } }
          - { event: over, action: end, relevance: { base: 0.9 } }
          - { event: score, relevance: { base: 1 } }
          - { event: "*", relevance: { base: 0.3 } }
        activity:
          attributesType: MatchAttributes
          contentState:
            home: { field: data.home, default: 0, required: true }
            away: { field: data.away, default: 0, required: true }
            card: "{data.card}"
            minute: "{data.minute}"
          alert: { title: Match, body: "{subject}", aboveRelevance: 1 }
          staleAfter: 15m
          quietEnd: 1h
    """

  private static let second: Int64 = 1_000_000
  private static let minute = 60 * second
  private static let start = PlannerHarness.noon

  /// Something that happens at an instant.
  private enum Happening {
    case event(match: Int, type: Identifier, [String: FieldValue], time: Int64)
    case registered(phone: Int, Registration)
    case signal(Signal)
    case arrives(phone: Int, Command, event: String, content: [String: FieldValue], timestamp: Double)
    case token(phone: Int, card: Int)
    case dismissed(phone: Int, card: Int)
    case endedBySystem(phone: Int, card: Int)
    case startedByApp(phone: Int, match: Int)
    case killed(phone: Int, until: Int64)
    case launched(phone: Int)
    case check(match: Int)
    case checkAnswer(phone: Int, card: Int, token: String)
  }

  /// One activity on the screen of a phone.
  private struct Card {
    var id: Identifier
    var match: Int
    var content: [String: FieldValue]
    var timestamp: Double
    var startedAt: Timestamp
    var token: String?
    /// The instant at which the planner has read the token.
    var tokenReadAt: Int64?
    /// The token to which the last push went.
    var pushedTo: String?
    var isByApp: Bool
    var isOver = false
    var isDismissed = false
    /// The timestamp of the newest push that APNs refused, or took and lost: until a newer one arrives the card may be wrong.
    var missed: Double?
    /// Whether APNs took an end, and it never arrived. Nothing is sent after it.
    var hasLostEnd = false
  }

  private struct Phone {
    var clock: Int64
    var matches: [Int]
    var cards: [Card] = []
    var isKilled = false
    var registrationReadAt: Int64 = 0
    var signalReadAt: Int64 = 0
    /// The records and pushes about it, for the text of a fault.
    var log: [String] = []
  }

  private struct Match {
    var events: [(time: Int64, data: [String: FieldValue])] = []
    var lastRead: Int64 = 0
    /// The own time of the newest event that begins or ends it.
    var begun = Int64.min
    var over = Int64.min
    var isOver: Bool { over > begun }
    var isOn: Bool { begun > over }
    var content: [String: FieldValue] {
      let known = events.sorted { $0.time < $1.time }.reduce(into: [String: FieldValue]()) { $0.merge($1.data) { $1 } }
      return [
        "home": known["home"] ?? .number(0), "away": known["away"] ?? .number(0), "card": known["card"] ?? .null,
        "minute": known["minute"] ?? .null,
      ]
    }
  }

  struct Figures: CustomStringConvertible {
    var days = 0
    var starts = 0
    var updates = 0
    var ends = 0
    var checks = 0
    var unreachable = 0
    var answeredTokens = 0
    var troubles: [String: Int] = [:]

    mutating func add(_ other: Figures) {
      days += other.days
      starts += other.starts
      updates += other.updates
      ends += other.ends
      checks += other.checks
      unreachable += other.unreachable
      answeredTokens += other.answeredTokens
      troubles.merge(other.troubles) { $0 + $1 }
    }

    var description: String {
      let troubles = troubles.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      return "\(days) device-days, \(starts) starts, \(updates) updates, \(ends) ends, "
        + "\(answeredTokens) tokens answered, "
        + "\(checks) cards checked, \(unreachable) not to be reached; \(troubles)"
    }
  }

  private var random: SeededRandom
  private var harness: PlannerHarness
  private var queue: [(at: Int64, Happening)] = []
  private var phones: [Phone] = []
  private var matches: [Match] = []
  private var now = start
  private var judged = 0
  private var ids = 0
  /// The card that each token was made for.
  private var cards: [String: (phone: Int, card: Int)] = [:]
  /// The dismissals that were read, by phone and match, with the time of the match's begin then.
  private var forbidden: [String: Int64] = [:]
  /// The dead token that each push went to, by the id of the command.
  private var dead: [Identifier: String] = [:]
  /// The tokens to which nothing may be pushed any more: the planner has read that they are dead, or APNs has taken an end.
  private var closed: Set<String> = []
  private(set) var faults: [String] = []
  private(set) var figures = Figures()

  init(seed: UInt64) throws {
    random = SeededRandom(seed: 77_000 + seed)
    harness = PlannerHarness(try PolicyDocument(yaml: Self.yaml, file: "policy.yaml").policy)
    var lost = SeededRandom(seed: seed)
    harness.losesPlanner = { lost.chance(1, in: 400) }
    matches = Array(repeating: Match(), count: 5)
    for index in 0..<40 {
      let first = random.below(matches.count)
      let clock = random.chance(1, in: 2) ? 0 : Int64(random.below(1200) - 600) * Self.second
      phones.append(Phone(clock: clock, matches: [first, (first + 1 + random.below(4)) % 5]))
      add(Self.start - 60 * Self.minute + Int64(random.below(50)) * Self.minute, .launched(phone: index))
      if random.chance(1, in: 4) {
        for _ in 0..<4 {
          add(
            Self.start + Int64(random.below(400)) * Self.minute,
            .startedByApp(phone: index, match: phones[index].matches[0]))
        }
      }
      if random.chance(1, in: 4) {
        let at = Self.start + Int64(random.below(400)) * Self.minute
        add(at, .killed(phone: index, until: at + Int64(1 + random.below(90)) * Self.minute))
      }
    }
    for index in matches.indices { play(index) }
    figures.days = phones.count
  }

  private mutating func add(_ at: Int64, _ happening: Happening) {
    let place = queue.partition { $0.at > at }
    queue.insert((at, happening), at: place)
  }

  private mutating func note(_ phone: Int, _ text: String) { phones[phone].log.append("\(seconds) s: \(text)") }

  private mutating func fault(_ phone: Int, _ text: String) {
    faults.append("\(seconds) s: d\(phone) \(text)\n    " + phones[phone].log.suffix(40).joined(separator: "\n    "))
  }

  private mutating func trouble(_ name: String) { figures.troubles[name, default: 0] += 1 }

  /// Makes the events of a match: some partial, some late, and in one of three a second run on the same day.
  private mutating func play(_ match: Int) {
    var time = Self.start + Int64(random.below(240)) * Self.minute
    for run in 0..<(random.chance(1, in: 3) ? 2 : 1) {
      if run > 0 { time += Int64(20 + random.below(60)) * Self.minute }
      var (home, away) = (0.0, 0.0)
      let isWhole = random.chance(1, in: 2)
      publish(match, "begun", isWhole ? ["home": .number(0), "away": .number(0), "card": .null] : [:], time)
      for minute in stride(from: 3, through: 96, by: 3) {
        time += 3 * Self.minute
        publish(match, "clock", ["minute": .number(Double(minute))], time)
        guard random.chance(1, in: 6) else { continue }
        time += Int64(random.below(100)) * Self.second
        if random.chance(1, in: 3) {
          publish(match, "card", ["card": .string("yellow \(minute)")], time)
        } else if random.chance(1, in: 2) {
          home += 1
          publish(match, "score", ["home": .number(home)], time)
        } else {
          away += 1
          publish(match, "score", ["away": .number(away)], time)
        }
      }
      time += 2 * Self.minute
      publish(match, "over", random.chance(1, in: 2) ? ["home": .number(home), "away": .number(away)] : [:], time)
    }
  }

  private mutating func publish(_ match: Int, _ type: Identifier, _ data: [String: FieldValue], _ time: Int64) {
    var late = Int64(random.below(3)) * Self.second
    if type == "card" || type == "score", random.chance(1, in: 8) {
      late += Int64(random.below(8)) * Self.minute
      trouble("late events")
    }
    add(time + late, .event(match: match, type: type, data, time: time))
    add(time + late + Self.minute, .check(match: match))
  }

  // MARK: The day

  mutating func run() {
    while let (at, happening) = queue.first, faults.isEmpty {
      if let due = harness.planner.nextTimer?.microseconds, due < at {
        now = max(now, due)
        harness.tick(at: due)
      } else {
        queue.removeFirst()
        now = max(now, at)
        happen(happening)
      }
      judge()
    }
    if harness.restarts > 0 { figures.troubles["restarts", default: 0] += harness.restarts }
  }

  private mutating func happen(_ happening: Happening) {
    switch happening {
    case .event(let match, let type, let data, let time):
      matches[match].events.append((time, data))
      matches[match].lastRead = now
      if type == "begun" { matches[match].begun = max(time, matches[match].begun) }
      if type == "over" { matches[match].over = max(time, matches[match].over) }
      harness.event(
        .saying(
          data, id: Identifier("e\(match)-\(type)-\(time)"), type: type, subject: Self.name(match),
          at: Timestamp(microseconds: time)), at: now)
    case .registered(let phone, let registration):
      let listed = registration.activities.map { "\($0.id) \($0.address)" }
      note(phone, "reads registration of \(registration.updatedAt): \(listed)")
      for activity in registration.activities {
        if let card = phones[phone].cards.firstIndex(where: { $0.id == activity.id }),
          activity.address == phones[phone].cards[card].token.map({ .token($0) }),
          phones[phone].cards[card].tokenReadAt == nil
        {
          phones[phone].cards[card].tokenReadAt = now
          if !phones[phone].cards[card].isByApp, let token = phones[phone].cards[card].token {
            add(now + Self.second, .checkAnswer(phone: phone, card: card, token: token))
          }
          // The planner answers the new token, because pushes to the one before may be lost.
          phones[phone].cards[card].missed = nil
        }
      }
      harness.register(registration, at: now)
    case .signal(let signal):
      if case .activityDismissed(let reported) = signal.kind, let subject = reported.subject,
        let match = matches.indices.first(where: { Self.name($0) == subject }), !matches[match].isOver
      {
        forbidden["\(signal.device) \(match)"] = matches[match].begun
      }
      if case .deliveryCompleted(let command, _, _) = signal.kind, let token = dead[command] { closed.insert(token) }
      if let phone = Int(signal.device.text.dropFirst()) { note(phone, "reads \(signal.kind)") }
      harness.apply(.signal(signal), at: now)
    case .arrives(let phone, let command, let event, let content, let timestamp):
      arrive(phone, command, event, content, timestamp)
    case .token(let phone, let card):
      let state = phones[phone].cards[card]
      if state.isOver || state.isDismissed || phones[phone].isKilled { return }
      ids += 1
      let token = "cc" + String(100_000 + ids)
      phones[phone].cards[card].token = token
      phones[phone].cards[card].tokenReadAt = nil
      cards[token] = (phone, card)
      register(phone)
      if random.chance(1, in: 12) {
        trouble("tokens rotated")
        add(now + Int64(1 + random.below(60)) * Self.minute, .token(phone: phone, card: card))
      }
    case .dismissed(let phone, let card):
      let state = phones[phone].cards[card]
      if state.isOver || state.isDismissed { return }
      phones[phone].cards[card].isDismissed = true
      trouble("dismissals")
      say(phone, .activityDismissed(reported(phone, card)))
      register(phone)
    case .endedBySystem(let phone, let card): phones[phone].cards[card].isOver = true
    case .startedByApp(let phone, let match):
      let isThere = phones[phone].cards.contains { $0.match == match && !$0.isOver && !$0.isDismissed }
      if isThere || !matches[match].isOn || phones[phone].isKilled { return }
      trouble("started by the app")
      let card = addCard(phone, match, matches[match].content, 0, isByApp: true)
      say(phone, .activityStarted(reported(phone, card)))
      add(now + Self.second, .token(phone: phone, card: card))
    case .killed(let phone, let until):
      phones[phone].isKilled = true
      trouble("apps killed")
      add(until, .launched(phone: phone))
    case .launched(let phone):
      phones[phone].isKilled = false
      // Tokens that came meanwhile.
      for card in phones[phone].cards.indices where phones[phone].cards[card].token == nil {
        add(now + Self.second, .token(phone: phone, card: card))
      }
      register(phone)
    case .check(let match): check(match)
    case .checkAnswer(let phone, let card, let token):
      let state = phones[phone].cards[card]
      if state.isOver || state.isDismissed || state.hasLostEnd || state.token != token { return }
      // By the clock of the phone, its eight hours may be over already.
      let started = state.startedAt.microseconds - phones[phone].clock
      if now - started > 8 * PlannerHarness.hour - 10 * Self.minute { return }
      figures.answeredTokens += 1
      if state.pushedTo != token { fault(phone, "registered \(state.id), and got no push to it") }
    }
  }

  private static func name(_ match: Int) -> Identifier { Identifier("match/\(match)") }

  private func reported(_ phone: Int, _ card: Int) -> Signal.ReportedActivity {
    let state = phones[phone].cards[card]
    return Signal.ReportedActivity(instance: state.id, kind: "Match", subject: Self.name(state.match))
  }

  @discardableResult
  private mutating func addCard(
    _ phone: Int, _ match: Int, _ content: [String: FieldValue], _ timestamp: Double, isByApp: Bool
  ) -> Int {
    ids += 1
    phones[phone].cards.append(
      Card(
        id: Identifier("a\(ids)"), match: match, content: content, timestamp: timestamp,
        startedAt: Timestamp(microseconds: now + phones[phone].clock), isByApp: isByApp))
    let card = phones[phone].cards.count - 1
    add(now + PlannerHarness.hour * 8, .endedBySystem(phone: phone, card: card))
    if random.chance(1, in: 8) {
      add(now + Int64(1 + random.below(100)) * Self.minute, .dismissed(phone: phone, card: card))
    }
    return card
  }

  /// Sends what the phone knows, if the app runs.
  private mutating func register(_ phone: Int) {
    if phones[phone].isKilled { return }
    let state = phones[phone]
    let activities = state.cards.compactMap { card -> Registration.Activity? in
      guard let token = card.token, !card.isOver, !card.isDismissed else { return nil }
      return Registration.Activity(
        id: card.id, kind: "Match", address: .token(token), interests: [Self.name(card.match)],
        startedAt: card.startedAt)
    }
    let registration = Registration(
      device: Identifier("d\(phone)"), app: "com.example.match", environment: .production, platform: "iOS",
      osVersion: OSVersion(major: 26), timeZone: "GMT", activities: activities,
      pushToStart: [
        Registration.PushToStart(
          kind: "Match", token: "dd" + String(1000 + phone), interests: state.matches.map { Self.name($0) })
      ],
      updatedAt: Timestamp(microseconds: now + state.clock))
    let read = max(state.registrationReadAt, now + Int64(random.below(20)) * Self.second / 2)
    phones[phone].registrationReadAt = read
    add(read, .registered(phone: phone, registration))
  }

  private mutating func say(_ phone: Int, _ kind: Signal.Kind) {
    if phones[phone].isKilled {
      trouble("signals lost")
      return
    }
    let read = max(phones[phone].signalReadAt, now + Int64(random.below(20)) * Self.second / 2)
    phones[phone].signalReadAt = read
    ids += 1
    add(
      read,
      .signal(
        Signal(
          device: Identifier("d\(phone)"), id: Identifier("s\(ids)"),
          time: Timestamp(microseconds: now + phones[phone].clock), kind: kind)))
  }

  // MARK: Pushes

  /// Sends the commands since the last call to APNs.
  private mutating func judge() {
    while judged < harness.commands.count, faults.isEmpty {
      let command = harness.commands[judged]
      judged += 1
      guard case .token(let token) = command.apns.address, let payload = try? JSONValue(parsing: command.apns.payload),
        let aps = payload["aps"], case .string(let event)? = aps["event"],
        case .number(let timestamp)? = aps["timestamp"]
      else {
        faults.append("no push to an activity: \(command)")
        return
      }
      var content: [String: FieldValue] = [:]
      for name in ["home", "away", "card", "minute"] {
        switch aps["content-state"]?[name] {
        case .number(let number)?: content[name] = .number(number)
        case .string(let text)?: content[name] = .string(text)
        case .null?: content[name] = .null
        default: fault(Int(command.device.text.dropFirst()) ?? 0, "\(event) without \(name): \(command)")
        }
      }
      send(command, token, event, content, timestamp)
    }
  }

  private mutating func send(
    _ command: Command, _ token: String, _ event: String, _ content: [String: FieldValue], _ timestamp: Double
  ) {
    guard let phone = Int(command.device.text.dropFirst()) else { return faults.append("a push to \(command.device)") }
    let place = cards[token]
    let match =
      place.map { phones[$0.phone].cards[$0.card].match }
      ?? matches.indices.first { Self.name($0) == command.subject }
    guard let match else { return faults.append("a push to the unknown token \(token)") }
    let text = "\(event) of \(Self.name(match)) to \(token)"
    if closed.contains(token) { fault(phone, "\(text): nothing more may go there") }
    if content != matches[match].content {
      fault(phone, "\(text) says \(content), and the match is \(matches[match].content)")
    }
    switch event {
    case "start":
      figures.starts += 1
      if matches[match].isOver { fault(phone, "\(text): the match is over") }
      if forbidden["\(command.device) \(match)"] == matches[match].begun { fault(phone, "\(text): it was dismissed") }
    case "update": figures.updates += 1
    default:
      figures.ends += 1
      if !matches[match].isOver { fault(phone, "\(text): the match goes on") }
    }
    if let (phone, card) = place { phones[phone].cards[card].pushedTo = token }
    // The token of a card that is gone is dead, and so is one that another one has replaced.
    let isDead = place.map { place in
      let card = phones[place.phone].cards[place.card]
      return card.isOver || card.isDismissed || card.token != token
    }
    var (outcome, answer) = (Signal.DeliveryOutcome.accepted, Signal.APNsAnswer(status: 200))
    var arrives = true
    if isDead == true {
      (outcome, answer, arrives) = (.refused, Signal.APNsAnswer(status: 410, reason: "Unregistered"), false)
      trouble("dead tokens")
    } else if random.chance(1, in: 40) {
      let isForGood = random.chance(1, in: 8)
      (outcome, answer, arrives) = (.refused, Signal.APNsAnswer(status: isForGood ? 400 : 503), false)
      trouble(isForGood ? "refusals for good" : "refusals")
      if let place { phones[place.phone].cards[place.card].missed = timestamp }
    } else if random.chance(1, in: 60) {
      arrives = false
      trouble(event == "end" ? "ends lost" : "pushes lost")
      if let place {
        phones[place.phone].cards[place.card].missed = timestamp
        phones[place.phone].cards[place.card].hasLostEnd = event == "end"
      }
    }
    let isSilent = outcome == .accepted && random.chance(1, in: 25)
    if isDead == true { dead[command.command] = token }
    if event == "end", outcome == .accepted, !isSilent { closed.insert(token) }
    note(phone, "\(text): \(outcome)\(arrives ? "" : ", lost")\(isSilent ? ", no receipt" : ""); \(content)")
    if isSilent {
      trouble("receipts lost")
    } else {
      let at = now + Int64(100 + random.below(2000)) * 1000
      ids += 1
      add(
        at,
        .signal(
          Signal(
            device: command.device, id: Identifier("s\(ids)"), time: Timestamp(microseconds: at),
            kind: .deliveryCompleted(command: command.command, outcome: outcome, answer: answer))))
    }
    if arrives {
      let isAtOnce = command.apns.headers.contains { $0.name == "apns-priority" && $0.value == "10" }
      add(
        now + Int64(50 + random.below(isAtOnce ? 500 : 5000)) * 1000,
        .arrives(phone: phone, command, event: event, content: content, timestamp: timestamp))
    }
  }

  private mutating func arrive(
    _ phone: Int, _ command: Command, _ event: String, _ content: [String: FieldValue], _ timestamp: Double
  ) {
    guard event != "start" else {
      guard let match = matches.indices.first(where: { Self.name($0) == command.subject }) else { return }
      if let other = phones[phone].cards.first(where: { $0.match == match && !$0.isOver && !$0.isDismissed }) {
        // The app's own card may not be read yet, and an end may have been lost.
        if !other.isByApp, other.missed == nil {
          fault(phone, "has a second card of \(Self.name(match)) beside \(other.id)")
        }
        trouble("second cards")
      }
      let card = addCard(phone, match, content, timestamp, isByApp: false)
      let delay: Int64
      switch random.below(20) {
      case 0:
        trouble("tokens that never came")
        return
      case 1...3:
        trouble("late tokens")
        delay = Int64(random.below(random.chance(1, in: 5) ? 24 * 60 : 120)) * Self.minute
      default: delay = Int64(random.below(5)) * Self.second
      }
      add(now + delay, .token(phone: phone, card: card))
      return
    }
    guard case .token(let token) = command.apns.address, let (_, card) = cards[token] else { return }
    let state = phones[phone].cards[card]
    note(phone, "\(event) arrives at \(state.id), timestamp \(timestamp) after \(state.timestamp)")
    if state.isOver || state.isDismissed || state.token != token { return }
    // The system passes over a push with an older timestamp.
    if timestamp < state.timestamp { return }
    phones[phone].cards[card].content = content
    phones[phone].cards[card].timestamp = timestamp
    if timestamp > state.missed ?? 0 { phones[phone].cards[card].missed = nil }
    if event == "end" {
      phones[phone].cards[card].isOver = true
      if random.chance(1, in: 2) { say(phone, .activityEnded(reported(phone, card))) }
      register(phone)
    }
  }

  private var seconds: Int64 { (now - Self.start) / Self.second }

  // MARK: Checks

  /// Compares the cards of a match with the match, a minute after an event of it, unless another one has come since.
  private mutating func check(_ match: Int) {
    if now - matches[match].lastRead < Self.minute { return }
    let truth = matches[match].content
    for phone in phones.indices {
      for card in phones[phone].cards where card.match == match && !card.isOver && !card.isDismissed {
        guard let read = card.tokenReadAt, now - read >= Self.minute, card.missed == nil else {
          figures.unreachable += 1
          continue
        }
        figures.checks += 1
        if matches[match].isOver { fault(phone, "shows \(card.id), and \(Self.name(match)) is over") }
        if card.content != truth { fault(phone, "shows \(card.id) with \(card.content), and the match is \(truth)") }
      }
    }
  }
}
