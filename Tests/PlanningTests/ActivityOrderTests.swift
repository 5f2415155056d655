import Domain
import JSON
import Policies
import Testing

@testable import Planning

/// Registrations, signals and events come from three topics, and from phones whose clocks are off. So the records of one activity may be read
/// in any order, and lead to the same in each.
@Suite("The order in which the records of a Live Activity are read") struct ActivityOrderTests {
  @Test("all orders of up to five records end with the same card, and each push is right by what was read before it")
  func permutations() throws {
    for seed in 0..<max(1, seedCount / 10) {
      var random = SeededRandom(seed: seed)
      let story = Story(&random, records: 2 + random.below(4), sessions: 9)
      try Self.compare(story, seed, Self.orders(of: story.records.count))
    }
  }

  @Test("random orders of six and seven records of one session do, too")
  func longOnes() throws {
    for seed in 0..<max(1, seedCount / 5) {
      var random = SeededRandom(seed: 1_000_000 + seed)
      let story = Story(&random, records: 6 + random.below(2), sessions: 1)
      let inOrder = Array(story.records.indices)
      try Self.compare(story, seed, [inOrder] + (0..<20).map { _ in random.shuffled(inOrder) })
    }
  }

  private static func compare(_ story: Story, _ seed: UInt64, _ orders: [[Int]]) throws {
    var first: Ending?
    for order in orders where story.canBeRead(in: order) {
      var reading = try Reading(story)
      for place in order { reading.read(story.records[place]) }
      let ending = reading.end()
      #expect(
        reading.faults.isEmpty,
        "seed \(seed), order \(order): \(reading.faults)\n\(story)\n  pushed:\n\(reading.log.joined(separator: "\n"))")
      if let first {
        #expect(
          ending == first, "seed \(seed), order \(order)\n\(story)\n  pushed:\n\(reading.log.joined(separator: "\n"))")
        if ending != first { return }
      }
      first = first ?? ending
      if !reading.faults.isEmpty { return }
    }
  }

  private static func orders(of count: Int) -> [[Int]] {
    if count == 0 { return [[]] }
    return orders(of: count - 1).flatMap { order in
      (0...order.count).map { place in
        var longer = order
        longer.insert(count - 1, at: place)
        return longer
      }
    }
  }
}

extension SeededRandom {
  fileprivate mutating func shuffled(_ places: [Int]) -> [Int] {
    var places = places
    for place in places.indices.dropFirst() { places.swapAt(place, below(place + 1)) }
    return places
  }
}

/// The state when all records are read, and time has passed.
private struct Ending: Equatable {
  /// Whether an activity of the subject is on the screen.
  var isThere: Bool
  /// Whether it shows all that is known, if it can be told.
  var isRight: Bool
  var truth: [String: FieldValue]
}

/// The records of one subject on one phone, a few minutes apart by their own times.
private struct Story: CustomStringConvertible {
  enum Report { case ended, dismissed }
  enum Record {
    case event(type: Identifier, [String: FieldValue])
    case registered([Registration.Activity])
    case reported(Report, Identifier)
    case rejected(String)
  }

  /// The way in which the sender reports: at once, not at all, when all is read, or with a refusal of the first push.
  enum Reports: Int, CaseIterable { case atOnce, never, late, refusedOnce }

  static let start: Int64 = PlannerHarness.noon

  /// Returns the instant at which the activity with a token was started.
  func startOfActivity(_ token: String) -> Timestamp {
    for case .registered(let activities) in records.map(\.record) {
      for activity in activities where activity.address == .token(token) { return activity.startedAt }
    }
    return .distantPast
  }

  /// Returns whether the records can be read in an order: no token is rejected before it is known.
  func canBeRead(in order: [Int]) -> Bool {
    var known: Set<String> = []
    for place in order {
      switch records[place].record {
      case .registered(let activities): for case .token(let token) in activities.map(\.address) { known.insert(token) }
      case .rejected(let token): if !known.contains(token) { return false }
      case .event, .reported: break
      }
    }
    return true
  }

  private(set) var records: [(time: Timestamp, record: Record)] = []
  private(set) var reports: Reports

  /// Draws a story.
  /// - Parameters:
  ///   - random: The source of randomness.
  ///   - count: The number of its records.
  ///   - sessionsMax: The largest number of times that its subject is ended and started again.
  init(_ random: inout SeededRandom, records count: Int, sessions sessionsMax: Int) {
    reports = Reports(rawValue: random.below(Reports.allCases.count)) ?? .atOnce
    var time = Self.start
    var (home, away, started, ids, tokens, sessions, isOver) = (0.0, 0.0, false, 0, 0, 1, false)
    var open: Registration.Activity?
    func token() -> String {
      tokens += 1
      return "cc\(10 + tokens)"
    }
    while records.count < count {
      time += 10_000_000 + Int64(random.below(50)) * 1_000_000
      let roll = random.below(100)
      var record: Record?
      if !started || roll < 14 {
        if isOver, sessions == sessionsMax { continue }
        if isOver { sessions += 1 }
        (started, isOver) = (true, false)
        record = .event(type: "begun", random.chance(2, in: 3) ? ["home": .number(home), "away": .number(away)] : [:])
      } else if roll < 44 {
        switch random.below(3) {
        case 0:
          home += 1
          record = .event(type: "home", ["home": .number(home)])
        case 1:
          away += 1
          record = .event(type: "away", ["away": .number(away)])
        default:
          record = .event(
            type: "minute", ["minute": random.chance(4, in: 5) ? .number(Double(random.below(90))) : .null])
        }
      } else if roll < 56 {
        record = .event(type: "over", ["home": .number(home)])
        isOver = true
      } else if roll < 80 {
        if var known = open {
          if random.chance(1, in: 3) {
            known.address = .token(token())
            open = known
          } else if random.chance(1, in: 3) {
            open = nil
          }
        } else if !isOver || sessionsMax > 1, random.chance(4, in: 5) {
          ids += 1
          open = Registration.Activity(
            id: Identifier("a\(ids)"), kind: "Match", address: .token(token()), interests: ["m"],
            startedAt: Timestamp(microseconds: time - 5_000_000))
        }
        record = .registered(open.map { [$0] } ?? [])
      } else if let known = open {
        if roll < 90 {
          record = .reported(random.chance(1, in: 2) ? .ended : .dismissed, known.id)
          open = nil
        } else if case .token(let token) = known.address {
          record = .rejected(token)
        }
      }
      if let record { records.append((Timestamp(microseconds: time), record)) }
    }
  }

  var description: String {
    "reports \(reports)\n"
      + records.enumerated().map { place, one in
        let second = (one.time.microseconds - Self.start) / 1_000_000
        let text =
          switch one.record {
          case .event(let type, let data): "\(type) \(data)"
          case .registered(let activities): "registered \(activities.map { "\($0.id) \($0.address)" })"
          case .reported(let report, let id): "\(report) \(id)"
          case .rejected(let token): "rejected \(token)"
          }
        return "  \(place): \(second) s \(text)"
      }.joined(separator: "\n")
  }
}

/// One order of reading, and what is pushed meanwhile.
private struct Reading {
  private static let yaml = """
    version: 1
    profile: apple-2026
    limits: { activityPushes: { limit: unlimited }, activityStarts: { limit: unlimited } }
    kinds:
      Match:
        surface: liveActivity
        halfLife: 20m
        rules:
          - { event: begun, action: start, relevance: { base: 0.9 } }
          - { event: over, action: end, relevance: { base: 0.5 } }
          - { event: "*", relevance: { base: 0.5 } }
        activity:
          attributesType: MatchAttributes
          contentState:
            home: { field: data.home, default: 0, required: true }
            away: { field: data.away, default: 0, required: true }
            minute: "{data.minute}"
          alert: { title: Kick-off, body: "{subject}" }
          quietEnd: 8h
    """
  private static let starterToken = "dd01"

  private let story: Story
  private var harness: PlannerHarness
  private var now = Story.start + 8 * PlannerHarness.minute
  private var events: [(time: Timestamp, type: Identifier, data: [String: FieldValue])] = []
  private var dead: Set<String> = []
  private var known: Set<String> = [starterToken]
  private var shown: [String: [String: FieldValue]] = [:]
  private var timestamps: [String: Double] = [:]
  private var waiting: [(Identifier, Signal.DeliveryOutcome, Signal.APNsAnswer)] = []
  private var isRefused = false
  private var judged = 0
  private(set) var faults: [String] = []
  private(set) var log: [String] = []

  init(_ story: Story) throws {
    self.story = story
    harness = PlannerHarness(try PolicyDocument(yaml: Self.yaml, file: "policy.yaml").policy)
    register([], at: Timestamp(microseconds: Story.start - PlannerHarness.hour))
  }

  private mutating func register(_ activities: [Registration.Activity], at time: Timestamp) {
    harness.register(
      Registration(
        device: "d1", app: "com.example.match", environment: .production, platform: "iOS",
        osVersion: OSVersion(major: 26), timeZone: "GMT", activities: activities,
        pushToStart: [Registration.PushToStart(kind: "Match", token: Self.starterToken, interests: ["m"])],
        updatedAt: time), at: now)
  }

  mutating func read(_ record: (time: Timestamp, record: Story.Record)) {
    now += 1_000_000
    harness.drain(until: now)
    judge()
    switch record.record {
    case .event(let type, let data):
      events.append((record.time, type, data))
      harness.event(
        .saying(
          data, id: Identifier("e\(record.time.microseconds)"), type: type, subject: "m", at: record.time),
        at: now)
    case .registered(let activities):
      for case .token(let token) in activities.map(\.address) { known.insert(token) }
      register(activities, at: record.time)
    case .reported(let report, let id):
      let activity = Signal.ReportedActivity(instance: id, kind: "Match", subject: "m")
      say(report == .ended ? .activityEnded(activity) : .activityDismissed(activity), at: record.time)
    case .rejected(let token):
      dead.insert(token)
      say(.tokenRejected(token: token), at: record.time)
    }
    settle(late: false)
  }

  private mutating func say(_ kind: Signal.Kind, at time: Timestamp) {
    harness.apply(.signal(Signal(device: "d1", id: Identifier("s\(harness.offset)"), time: time, kind: kind)), at: now)
  }

  /// Lets the sender report, and timers fire that are due.
  private mutating func settle(late: Bool) {
    judge()
    while late || story.reports != .late, !waiting.isEmpty {
      let (command, outcome, answer) = waiting.removeFirst()
      now += 1000
      say(.deliveryCompleted(command: command, outcome: outcome, answer: answer), at: Timestamp(microseconds: now))
      judge()
    }
  }

  /// Lets three quarters of an hour pass: what was refused or not answered is settled by then.
  mutating func end() -> Ending {
    for _ in 0..<45 {
      settle(late: true)
      now += PlannerHarness.minute
      harness.drain(until: now)
      if now % (5 * PlannerHarness.minute) == 0 { harness.tick(at: now) }
    }
    settle(late: true)
    harness.tick(at: now)
    let lives = harness.planner.lives(of: "m")
    let truth = Self.truth(of: events)
    var isRight = true
    for case (let token, .running) in lives.registered where !dead.contains(token) && shown[token] != nil {
      if shown[token] != content { isRight = false }
    }
    let isOver = Self.newest("over", events) > Self.newest("begun", events)
    for case (let token, .running) in lives.registered
    where isOver && story.startOfActivity(token) < Self.newest("over", events) {
      faults.append("the one with \(token) has not got its end")
    }
    let isOnScreen = lives.started?.isOnScreen == true || lives.registered.contains { $0.life.isOnScreen }
    return Ending(
      // One that cannot be told that it is over may still be there.
      isThere: isOnScreen && !isOver, isRight: isRight,
      truth: truth)
  }

  private static func newest(
    _ type: Identifier, _ events: [(time: Timestamp, type: Identifier, data: [String: FieldValue])]
  ) -> Timestamp { events.filter { $0.type == type }.map(\.time).max() ?? .distantPast }

  private var content: [String: FieldValue] {
    let truth = Self.truth(of: events)
    return [
      "home": truth["home"] ?? .number(0), "away": truth["away"] ?? .number(0), "minute": truth["minute"] ?? .null,
    ]
  }

  private static func truth(
    of events: [(time: Timestamp, type: Identifier, data: [String: FieldValue])]
  ) -> [String: FieldValue] {
    events.sorted { $0.time < $1.time }.reduce(into: [:]) { truth, event in
      truth.merge(event.data) { $1 }
    }
  }

  /// Checks the commands since the last call.
  private mutating func judge() {
    for command in harness.commands[judged...] {
      guard case .token(let token) = command.apns.address, let payload = try? JSONValue(parsing: command.apns.payload),
        let aps = payload["aps"], case .string(let event)? = aps["event"]
      else {
        faults.append("\(command)")
        continue
      }
      log.append("  \((now - Story.start) / 1_000_000) s \(event) to \(token)")
      if dead.contains(token) { faults.append("\(event) to the dead token \(token)") }
      if !known.contains(token) { faults.append("\(event) to the unknown token \(token)") }
      if case .number(let timestamp)? = aps["timestamp"] {
        if token != Self.starterToken, timestamp <= timestamps[token] ?? 0 {
          faults.append("\(event): an old timestamp")
        }
        timestamps[token] = timestamp
      }
      if let state = aps["content-state"] {
        var said: [String: FieldValue] = [:]
        for name in ["home", "away", "minute"] {
          switch state[name] {
          case .number(let number)?: said[name] = .number(number)
          case .null?: said[name] = .null
          default: faults.append("\(event) without \(name)")
          }
        }
        if said != content { faults.append("\(event) says \(said), and the truth is \(content)") }
        shown[token] = said
      } else if event != "end" {
        faults.append("\(event) without content")
      }
      if event == "start" {
        if Self.newest("begun", events) <= Self.newest("over", events) { faults.append("a start of what is over") }
      }
      guard story.reports != .never else { continue }
      if story.reports == .refusedOnce, !isRefused {
        isRefused = true
        waiting.append((command.command, .refused, Signal.APNsAnswer(status: 503)))
      } else {
        waiting.append((command.command, .accepted, Signal.APNsAnswer(status: 200)))
      }
    }
    judged = harness.commands.count
  }
}
