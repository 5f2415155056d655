import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Kinds that display the same fields, such as a small and a large widget, share what is known of a subject.
@Suite("Kinds that display the same fields")
struct SharedTruthTests {
  private static let subjects: [Identifier] = ["flight/UA1", "flight/UA2", "flight/UA3"]

  /// Returns a policy with a second kind that displays the same fields with other weights.
  /// - Parameter more: More fields that only the second kind displays, so that it shares nothing.
  private static func policy(_ more: [DisplayField] = [], rules: [Rule]? = nil) -> Policy {
    let displays = [DisplayField(path: "data.delay", round: 5, per: .units(60)), DisplayField(path: "data.status")]
    var policy = Policy.flights {
      $0.displays = displays
      $0.budget = InstanceBudget(perDay: 48, minInterval: .minutes(10))
      $0.rules = [Rule(event: "flight.*")]
    }
    var large = policy.kinds[0]
    large.name = "LargeFlight"
    large.displays[0].per = .units(30)
    large.displays[1].weight = 0.4
    large.displays += more
    if let rules { large.rules = rules }
    policy.kinds.append(large)
    return policy
  }

  private static func registration(_ device: Identifier) -> LogRecord.Content {
    .registration(
      .phone(
        device,
        widgets: [
          .flight("small", interests: subjects),
          Registration.Widget(id: "large", kind: "LargeFlight", interests: [subjects[1], subjects[0]]),
        ]))
  }

  private static func event(_ type: Identifier, _ fields: [EventField], _ subject: Int, at time: Int64) -> DomainEvent {
    DomainEvent(
      id: Identifier("\(type)-\(time)"), source: "/test", type: type, subject: subjects[subject],
      time: Timestamp(microseconds: time), fields: fields)
  }

  private static func delay(_ delay: Double, minute: Int64) -> DomainEvent {
    event(
      "flight.changed", [EventField(path: "data.delay", value: .number(delay))], 0, at: H.noon + minute * H.minute)
  }

  @Test("they decide as they would with states of their own", arguments: 0..<6 as Range<UInt64>)
  func asAlone(seed: UInt64) {
    // A field that no event carries makes the kinds different, and no screen wrong.
    var planners = [H(Self.policy()), H(Self.policy([DisplayField(path: "data.never", weight: 0.01)]))]
    var random = SeededRandom(seed: seed)
    var time = H.noon
    for place in planners.indices { planners[place].apply(Self.registration("d1"), at: time) }
    let kinds = planners.map { $0.planner.truths }
    #expect(Set(kinds[0]).count == 1 && Set(kinds[1]).count == 2, "\(kinds)")
    var pushes = 0
    for step in 0..<600 {
      time += Int64(random.below(600)) * 1_000_000
      var fields = [EventField(path: "data.gate", value: .string("B\(random.below(9))"))]
      if random.below(3) > 0 { fields.append(EventField(path: "data.delay", value: .number(Double(random.below(90))))) }
      if random.below(4) == 0 {
        let status: FieldValue = random.below(5) == 0 ? .null : .string("s\(random.below(3))")
        fields.append(EventField(path: "data.status", value: status))
      }
      let (subject, dice) = (random.below(Self.subjects.count), random.below(20))
      for place in planners.indices {
        switch dice {
        case 0: planners[place].apply(Self.registration("d2"), at: time)
        case 1: planners[place].signal(.widgetFetched(instance: "small"), at: time)
        default: planners[place].event(Self.event("flight.changed", fields, subject, at: time))
        }
      }
      pushes += planners[0].lastCommands.count
      guard planners[0].last == planners[1].last, planners[0].lastCommands == planners[1].lastCommands else {
        Issue.record("seed \(seed), step \(step): \(planners[0].last) instead of \(planners[1].last)")
        return
      }
    }
    #expect(pushes > 50, "seed \(seed)")
    for planner in planners { planner.planner.checkInvariants() }
    #expect(planners[0].planner.subjects.count < planners[1].planner.subjects.count)
  }

  @Test("an event that only one of them has a rule for tells what the other one shows after its next reload")
  func told() {
    var h = H(Self.policy(rules: [Rule(event: "flight.called", relevance: RelevanceFormula(base: 0.9))]))
    h.apply(Self.registration("d1"), at: H.noon)
    let delay = [EventField(path: "data.delay", value: .number(40))]
    h.event(Self.event("flight.called", delay, 0, at: H.noon))
    let later = H.noon + H.hour
    h.event(Self.event("flight.changed", [EventField(path: "data.delay", value: .number(80))], 0, at: later))
    #expect(h.last.map(\.reason) == [.noMatch, .emitted], "\(h.last)")
    // The push reloaded both widgets, so a call that says what they show already changes nothing.
    h.event(
      Self.event("flight.called", [EventField(path: "data.delay", value: .number(80))], 0, at: later + H.hour))
    #expect(h.last.map(\.reason) == [.notVisible, .notVisible], "\(h.last)")
  }

  @Test("what was known before a break, in which no policy named such a kind, is not known to a kind that comes later")
  func eras() throws {
    var small = Self.policy()
    small.kinds.removeLast()
    var large = Self.policy()
    large.kinds.removeFirst()
    var none = small
    none.kinds = []
    var h = H(small)
    let widget = Registration.Widget.flight("small", interests: Self.subjects)
    h.apply(.registration(.phone("d1", widgets: [widget])), at: H.noon)
    h.event(Self.delay(40, minute: 1))
    h.activate(none)
    // Nobody notes this change.
    h.event(Self.delay(80, minute: 2))
    h.activate(large)
    let other = Registration.Widget(id: "large", kind: "LargeFlight", interests: Self.subjects)
    h.apply(.registration(.phone("d2", widgets: [other])), at: H.noon + 3 * H.minute)
    // To a kind that knew the first delay, the return to it would show nothing new.
    h.event(Self.delay(40, minute: 4))
    #expect(h.last.filter { $0.device == "d2" }.map(\.reason) == [.emitted], "\(h.last)")
    // A kind that comes while another one displays the same fields knows what that one knows, also after a restart.
    var both = large
    both.kinds.append(small.kinds[0])
    both.kinds[1].name = "TinyFlight"
    h.activate(both)
    let third = Registration.Widget(id: "tiny", kind: "TinyFlight", interests: Self.subjects)
    h.apply(.registration(.phone("d3", widgets: [third])), at: H.noon + 5 * H.minute)
    #expect(h.planner.truths(of: "TinyFlight") == h.planner.truths(of: "LargeFlight"))
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    var records: [(key: [UInt8], value: [UInt8]?)] = []
    h.planner.takeChanges { records.append((Array($0), $1.map(Array.init))) }
    for record in records { try restore.add(key: record.key, value: record.value) }
    let restored = try restore.finish(initialPolicy: both)
    for name in ["TinyFlight", "LargeFlight"] as [Identifier] {
      #expect(restored.truths(of: name) == h.planner.truths(of: name))
    }
  }

  @Test("a kind that displays other fields from now on does not know what another one knew before a break")
  func fields() {
    var first = Self.policy()
    first.kinds[0].displays = [DisplayField(path: "data.gate")]
    var gap = first
    gap.kinds.removeLast()
    var last = Self.policy()
    last.kinds.removeLast()
    var h = H(first)
    h.apply(Self.registration("d1"), at: H.noon)
    h.event(Self.delay(40, minute: 1))
    h.activate(gap)
    h.event(Self.delay(80, minute: 2))
    h.activate(last)
    #expect(h.planner.truths(of: "FlightStatus") != nil && !h.planner.knowsTruth(of: Self.subjects[0]))
    // With a kind that has displayed these fields all the while it shares at once.
    h.activate(first)
    h.activate(Self.policy())
    let kinds = h.planner.truths
    #expect(kinds.count == 2 && Set(kinds).count == 1)
  }
}
