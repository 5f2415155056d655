import Domain
import JSON
import Policies

@testable import Planning

/// Feeds the records of a story to a planner, through the decoders of the public formats, and compares the decisions.
struct CorpusRun: ~Copyable {
  /// The planner after the steps that were played.
  private(set) var planner: Planner
  private let story: CorpusStory
  private var offset: Int64 = 0
  private var output = PlannerOutput()
  private let events = CloudEventDecoder()
  private let signals = SignalDecoder()
  private let registrations = RegistrationDecoder()
  /// Whether the planner is restored from its state before every step.
  private let restarts: Bool
  private var state: [[UInt8]: [UInt8]] = [:]

  // The results of the current step.
  private var decisions: [Decision] = []
  private var commands: [Command] = []
  private var problems: [String] = []

  /// The differences between the expected and the actual decisions; empty when the story passes.
  private(set) var differences: [String] = []
  /// The decisions of the whole story.
  private(set) var decided: [Decision] = []
  /// The reasons of the story's decisions and commands.
  private(set) var reasons: Set<Reason> = []
  /// The surfaces of its decisions.
  private(set) var surfaces: Set<Surface> = []

  private static let stepKeys: Set<String> = [
    "at", "register", "forget", "event", "signal", "tick", "drain", "policy", "expect", "commands", "problems",
    "zombies",
  ]

  init(_ story: CorpusStory, restarts: Bool = false) throws {
    self.story = story
    self.restarts = restarts
    planner = Planner(
      partition: story.partition.number, partitionCount: story.partition.of,
      policy: try CorpusStory.policy(story.policy).policy, bounds: .expecting(story.demand))
  }

  mutating func play() throws {
    for (index, step) in story.steps.enumerated() {
      let place = "step \(index + 1)"
      try step.allow(Self.stepKeys, in: place)
      guard case .string(let at)? = step["at"], let time = story.clock.instant(at) else {
        throw CorpusMistake("\(place): expected at, a time such as \"12:00\"")
      }
      if restarts { try restart() }
      decisions = []
      commands = []
      problems = []
      try apply(step, at: time, place: place)
      decided += decisions
      reasons.formUnion(decisions.map(\.reason))
      reasons.formUnion(commands.flatMap { $0.serves.map(\.reason) })
      surfaces.formUnion(decisions.map(\.surface))
      compare(step, place: "\(place) at \(at)")
    }
  }

  // MARK: Records

  private mutating func apply(_ step: JSONValue, at time: Timestamp, place: String) throws {
    let kinds = step.members.map(\.key).filter { !["at", "expect", "commands", "problems", "zombies"].contains($0) }
    guard kinds.count == 1, let kind = kinds.first, let value = step[kind] else {
      throw CorpusMistake("\(place): expected one record, found \(kinds)")
    }
    switch kind {
    case "register":
      let registration = try registration(value, at: time)
      feed(.registration(registration), at: time)
      // Intake also adds these records.
      for channel in registration.channels() { feed(.registration(channel), at: time) }
    case "forget":
      guard case .string(let device) = value else { throw CorpusMistake("\(place): forget expects a device") }
      feed(.forget(device: Identifier(device)), at: time)
    case "event": feed(.event(try event(value, at: time)), at: time)
    case "signal": feed(.signal(try signal(value, at: time)), at: time)
    case "policy":
      // A whole document is passed to the planner unchanged, so that a story can contain one that the planner refuses.
      if case .string(let text) = value, text.contains("\n") {
        feed(.policy(document: text), at: time)
      } else {
        feed(.policy(document: try CorpusStory.policy(value).text), at: time)
      }
    case "drain":
      var ticks = 0
      while let due = planner.nextTimer, due <= time {
        feed(.tick, at: due)
        ticks += 1
        guard ticks < 10_000 else { throw CorpusMistake("\(place): timers keep coming") }
      }
    default: feed(.tick, at: time)
    }
  }

  private mutating func feed(_ content: LogRecord.Content, at time: Timestamp) {
    planner.begin(content, offset: offset, timestamp: time)
    var done = false
    while !done {
      done = planner.advance(into: &output)
      for i in 0..<output.decisionCount { decisions.append(planner.decision(i, of: output)) }
      for i in 0..<output.commandCount { commands.append(planner.command(i, of: output)) }
      problems += output.largePayloads.map(\.description)
    }
    offset += 1
  }

  private mutating func restart() throws {
    planner.takeChanges { state[Array($0)] = $1.map(Array.init) }
    var restore = PlannerRestore(
      partition: story.partition.number, partitionCount: story.partition.of, bounds: planner.bounds)
    for (key, value) in topicOrder(state) { try restore.add(key: key, value: value) }
    planner = try restore.finish(initialPolicy: planner.policy)
  }

  private func registration(_ value: JSONValue, at time: Timestamp) throws -> Registration {
    var phone = JSONValue.object([
      ("device", .string("d1")), ("app", .string("com.example.flights")), ("environment", .string("production")),
      ("platform", .string("iOS")), ("osVersion", .string("26.1")), ("timeZone", .string("GMT")),
      ("tokens", .object([("widgets", .string("aa11"))])), ("updatedAt", .string(time.description)),
    ])
    var given = value
    if case .string(let device)? = value["device"] {
      let token = Registration.token(of: Identifier(device))
      phone = phone.merged(with: .object([("tokens", .object([("widgets", .string(token))]))]))
    }
    let kinds = [
      "widgets": "FlightStatus", "controls": "GateControl", "activities": "FlightActivity",
      "pushToStart": "FlightActivity",
    ]
    if !kinds.keys.contains(where: { value[$0] != nil }) {
      given = given.merged(with: .object([("widgets", .array([.object([("id", .string("w1"))])]))]))
    }
    phone = phone.merged(with: dated(given))
    let members = phone.members.map { member -> (key: String, value: JSONValue) in
      guard let kind = kinds[member.key], case .array(let items) = member.value else { return member }
      var instance = JSONValue.object([
        ("kind", .string(kind)), ("interests", .array([.string("flight/UA1")])),
      ])
      if member.key == "activities" {
        instance = instance.merged(with: .object([("startedAt", .string(time.description))]))
      }
      return (member.key, .array(items.map { instance.merged(with: $0) }))
    }
    return try registrations.decode(bytes(.object(members)))
  }

  private func event(_ value: JSONValue, at time: Timestamp) throws -> DomainEvent {
    var members: [(key: String, value: JSONValue)] = [
      ("specversion", .string("1.0")), ("source", .string("/flights")), ("type", .string("flight.delay.changed")),
      ("subject", .string("flight/UA1")), ("time", .string(time.description)),
    ]
    // The data is not merged, because a null in it is a value.
    if value["data"] == nil { members.append(("data", .object([]))) }
    let event = JSONValue.object(members)
    return try events.decode(CloudEventRecord(value: bytes(event.merged(with: dated(value))), timestamp: time))
  }

  private func signal(_ value: JSONValue, at time: Timestamp) throws -> Signal {
    var signal = JSONValue.object([
      ("specversion", .string("1.0")), ("id", .string("s\(offset)")), ("source", .string("/app")),
      ("subject", .string("d1")), ("time", .string(time.description)),
    ])
    signal = signal.merged(with: dated(value))
    if case .string(let type)? = signal["type"] {
      signal = signal.merged(with: .object([("type", .string("rouse.signal.\(type)"))]))
    }
    return try signals.decode(CloudEventRecord(value: bytes(signal), timestamp: time))
  }

  /// Replaces story times (`12:00`) in `time`, `updatedAt`, `nextReload` and `startedAt` by RFC 3339 times.
  private func dated(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members):
      return .object(
        members.map { member in
          guard ["time", "updatedAt", "nextReload", "startedAt"].contains(member.key),
            case .string(let text) = member.value, let instant = story.clock.instant(text)
          else { return (member.key, member.key == "data" ? member.value : dated(member.value)) }
          return (member.key, .string(instant.description))
        })
    case .array(let elements): return .array(elements.map { dated($0) })
    default: return value
    }
  }

  private func bytes(_ value: JSONValue) -> [UInt8] {
    var writer = JSONWriter()
    writer.value(value)
    return writer.bytes
  }

  // MARK: Comparing

  private mutating func compare(_ step: JSONValue, place: String) {
    let matcher = CorpusMatcher(clock: story.clock)
    var found: [String] = []
    var expected: [JSONValue] = []
    if case .array(let list)? = step["expect"] { expected = list }
    found += matcher.compare(expected, decisions.map(CorpusMatcher.value), what: "decision")
    if case .array(let list)? = step["commands"] {
      found += matcher.compare(list, commands.map(CorpusMatcher.value), what: "command")
    } else if !Set(decisions.compactMap(\.command)).isSuperset(of: commands.map(\.command)) {
      found.append("commands that no decision names: say what they are by commands")
    }
    if let list = step["problems"] {
      found += matcher.contains(list, problems, what: "problem")
    } else if !problems.isEmpty {
      found.append("problems that the case does not tell of: \(problems)")
    }
    if case .number(let count)? = step["zombies"] {
      var (sweep, figures): (ScreenSweep, ScreenFigures?) = (ScreenSweep(), nil)
      while figures == nil { figures = planner.sweep(&sweep, at: .distantPast) }
      let swept = figures?.kinds.reduce(0) { $0 + $1.zombies } ?? 0
      if planner.zombies().count != Int(count) || swept != Int(count) {
        found.append("expected \(Int(count)) zombies, found \(planner.zombies().count), and by a sweep \(swept)")
      }
    }
    guard !found.isEmpty else { return }
    let decided = decisions.map { "    \(CorpusMatcher.text(CorpusMatcher.value($0)))" }
    let pushed = commands.map { "    \(CorpusMatcher.text(CorpusMatcher.value($0)))" }
    differences.append(
      (["\(place):"] + found.map { "  \($0)" } + ["  decided:"] + decided + ["  pushed:"] + pushed)
        .joined(separator: "\n"))
  }
}
