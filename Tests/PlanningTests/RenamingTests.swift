import Domain
import Policies
import Testing

@testable import Planning

/// A planner never reads a meaning into a name. So a life whose names are replaced by others that are as different, but that
/// Unicode calls equivalent, has the same decisions and commands but for the names.
@Suite("Equivalent names are different names") struct RenamingTests {
  @Test("decisions and commands do not depend on the form of the names", arguments: 1...12 as ClosedRange<UInt64>)
  func renamed(seed: UInt64) {
    var plain = Life(seed: seed) { "\($0)-\($1)" }
    var equivalent = Life(seed: seed, name: Self.equivalent)
    let (expected, found) = (plain.run(), equivalent.run())
    #expect(expected.count > 100, "seed \(seed)")
    // Every name of the plain life has one counterpart, and no two share one.
    let back = Dictionary(uniqueKeysWithValues: equivalent.names.map { ($0.value, $0.key) })
    #expect(back.count == plain.names.count, "seed \(seed)")
    let renamed = found.map { line in line.map { back[$0].flatMap { plain.names[$0] } ?? $0 } }
    #expect(renamed == expected, "seed \(seed)")
    #expect(equivalent.restarts > 0, "seed \(seed)")
    equivalent.harness.planner.checkInvariants()
  }

  /// Returns a name of a group whose names are all equivalent: `é` in its two forms, by the bits of the number.
  private static func equivalent(_ label: String, _ number: Int) -> Identifier {
    "\(label)-\((0..<4).map { number >> $0 & 1 == 0 ? "\u{e9}" : "e\u{301}" }.joined())"
  }
}

/// Random registrations, events and signals whose names all come from one function.
private struct Life {
  var harness: PlannerHarness
  /// The names that were made, by what they stand for.
  private(set) var names: [Identifier: Identifier] = [:]
  private var random: SeededRandom
  private let name: (String, Int) -> Identifier
  private var time = PlannerHarness.noon

  var restarts: Int { harness.restarts }

  init(seed: UInt64, name: @escaping (String, Int) -> Identifier) {
    self.name = name
    random = SeededRandom(seed: seed)
    var losses = SeededRandom(seed: seed, stream: 1)
    harness = PlannerHarness(
      .flights { _ in
      } also: { policy in
        let kind = policy.kinds[0]
        policy.kinds = (0..<4).map { number in
          var kind = kind
          kind.name = name("kind", number)
          kind.budget = InstanceBudget(perDay: 3 + number, minInterval: .minutes(5))
          // Kinds stand in the order of their names in a policy: here that order must not depend on the form.
          kind.rules = [
            Rule(
              event: name("type", number),
              interests: [.subject, InterestTemplate(parts: [.field("data.\(name("field", 0))")])],
              relevance: RelevanceFormula(base: 0.5)),
            Rule(event: "*", relevance: RelevanceFormula(base: 0.7)),
          ]
          return kind
        }
        policy.apps = (0..<3).map { AppBudget(app: name("app", $0), perDay: 5 + $0) }
      })
    harness.losesPlanner = { losses.chance(1, in: 10) }
  }

  private mutating func made(_ label: String, _ number: Int) -> Identifier {
    let made = name(label, number)
    names["\(label) \(number)"] = made
    return made
  }

  private mutating func drawn(_ label: String, of count: Int) -> Identifier { made(label, random.below(count)) }

  /// Runs the life, and returns the names and figures of each decision and command.
  mutating func run() -> [[Identifier]] {
    for _ in 0..<400 {
      time += Int64(random.below(20)) * PlannerHarness.minute
      switch random.below(10) {
      case 0, 1: register()
      case 2: signal()
      default: event()
      }
    }
    harness.drain(until: time + 24 * PlannerHarness.hour)
    return harness.decisions.map(Self.words) + harness.commands.map(Self.words)
  }

  private mutating func register() {
    let widgets = (0..<random.below(4)).map { _ -> Registration.Widget in
      .flight(
        drawn("widget", of: 16), kind: drawn("kind", of: 6),
        interests: (0...random.below(3)).map { _ in drawn("subject", of: 8) })
    }
    var ids: Set<Identifier> = []
    harness.register(
      .phone(
        drawn("device", of: 8), widgets: widgets.filter { ids.insert($0.id).inserted }, at: time,
        app: drawn("app", of: 4)), at: time)
  }

  private mutating func signal() {
    let instance: Identifier? = random.chance(1, in: 2) ? nil : drawn("widget", of: 16)
    let isFetched = random.chance(1, in: 2)
    let kind: Signal.Kind = isFetched ? .widgetFetched(instance: instance) : .widgetViewed(instance: instance)
    harness.signal(kind, device: drawn("device", of: 8), at: time)
  }

  private mutating func event() {
    var event = DomainEvent.delay(
      Double(random.below(30) * 5), id: drawn("event", of: 16), subject: drawn("subject", of: 8), at: time,
      type: drawn("type", of: 6))
    event.id = "\(event.id) of \(time)"
    event.fields.append(EventField(path: "data.\(made("field", 0))", value: .string(drawn("subject", of: 8).text)))
    event.fields.sort { $0.path < $1.path }
    harness.event(event, at: time)
  }

  private static func words(_ decision: Decision) -> [Identifier] {
    [
      decision.decision, decision.device, decision.instance, decision.kind, "\(decision.verdict) \(decision.reason)",
      "\(decision.tokensLeft) \(decision.value) \(decision.price) \(decision.at)", decision.command ?? "none",
    ] + decision.events.map(Self.withoutTime)
  }

  private static func words(_ command: Command) -> [Identifier] {
    [command.command, command.device, command.app, "\(command.at)"]
      + command.serves.flatMap { [$0.instance, $0.kind] + $0.events.map(Self.withoutTime) }
      + command.charged.flatMap { ["\($0.ledger) \($0.left)", $0.owner] }
  }

  /// Returns the name in the id of an event, which is followed by its time.
  private static func withoutTime(_ event: Identifier) -> Identifier {
    Identifier(String(event.text.unicodeScalars.prefix { $0 != " " }))
  }
}
