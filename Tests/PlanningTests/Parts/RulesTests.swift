import Domain
import Policies
import Testing

@testable import Planning

@Suite("The compiled rules")
struct RulesTests {
  private static func kind(_ name: Identifier, _ events: [Identifier] = ["*"], perDay: Int = 48) -> KindPolicy {
    KindPolicy(
      name: name, budget: InstanceBudget(perDay: perDay, minInterval: .minutes(15)), halfLife: .minutes(20),
      rules: events.map { Rule(event: $0, relevance: RelevanceFormula(base: 0.5)) })
  }

  private static func policy(_ kinds: [KindPolicy], apps: [AppBudget] = []) -> Policy {
    Policy(
      reference: PolicyReference(version: "test", hash: "0123456789abcdef"), profile: PolicyProfiles.standard,
      apps: apps, kinds: kinds)
  }

  @Test("kinds are numbered as they come, and rules stand in the policy's order whichever came first")
  func order() {
    let names: [Identifier] = ["A", "B", "C", "D", "E"]
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var rules = Rules(
        Self.policy(names.map { Self.kind($0, $0 == "C" ? ["match.*"] : ["flight.delay", "match.goal"]) }))
      var order = names + ["unknown to the policy"]
      random.shuffle(&order)
      for (place, name) in order.enumerated() {
        #expect(rules.kind(named: name) == nil)
        #expect(rules.addKind(name).0 == KindSlot(UInt32(place)), "seed \(seed)")
        rules.checkInvariants()
        let known = order.prefix(place + 1)
        // Asked again after each kind: a look-up that was kept must not lack the new one.
        for (type, listening) in [("flight.delay", ["A", "B", "D", "E"]), ("match.goal", names), ("other", [])]
          as [(Identifier, [Identifier])]
        {
          let expected = listening.filter { known.contains($0) }
          for _ in 0..<2 {
            #expect(rules.kinds(forType: type).map { rules[$0].name } == expected, "seed \(seed), \(type)")
          }
        }
      }
    }
  }

  @Test(
    "the rules of many types are found in any order, and what is said of every event of a type is what each is told")
  func types() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      // One kind for each type, and one for every second; each with a rule of another relevance.
      let types = (0..<9).map { Identifier("type.\($0)") }
      var kinds = types.enumerated().map { place, type in
        var kind = Self.kind("K\(place)", [type])
        kind.rules[0].relevance = place % 3 == 0 ? nil : RelevanceFormula(base: Double(place) / 10)
        if place % 3 == 1 {
          kind.rules[0].relevance?.add = [.magnitudeOf(field: "data.x", per: 10, weight: 0.5)]
        }
        return kind
      }
      kinds.append(Self.kind("half", stride(from: 0, to: 9, by: 2).map { types[$0] }))
      var rules = Rules(Self.policy(kinds))
      for kind in kinds { _ = rules.addKind(kind.name) }
      for _ in 0..<200 {
        let place = Int(random.next() % 10)
        let name = place < 9 ? types[place] : "none"
        let expected: [Identifier] = place == 9 ? [] : ["K\(place)"] + (place % 2 == 0 ? ["half"] : [])
        #expect(rules.kinds(forType: name).map { rules[$0].name } == expected, "seed \(seed), \(name)")
        let type = rules.type(name)
        let event = DomainEvent(
          id: "e", source: "/t", type: name, subject: "s", time: Timestamp(microseconds: 0),
          fields: [EventField(path: "data.x", value: .number(Double(random.next() % 20)))])
        for rule in 0..<rules.ruleCount(ofType: type) {
          let known = rules.evaluation(byRule: rule, ofType: type)
          var (keys, leftOut): ([Identifier], Int) = ([event.subject], 0)
          let own = rules.rule(rule, ofType: type).evaluate(event, keys: &keys, &leftOut)
          #expect(known.hasRule == (rule > 0 || place % 3 != 1), "seed \(seed), \(name)")
          guard known.hasRule else { continue }
          #expect(known.keys == own.keys && known.relevance == own.relevance, "seed \(seed), \(name)")
          #expect(known.isRelevanceStated == own.isRelevanceStated && known.maxAge == own.maxAge)
          #expect(keys == [event.subject] && leftOut == 0)
        }
      }
      rules.checkInvariants()
    }
  }

  @Test("another policy's numbers and rules hold at once for every kind")
  func change() throws {
    var rules = Rules(Self.policy([Self.kind("A", perDay: 10)]))
    let (known, _) = rules.addKind("A")
    let (unknown, numbers) = rules.addKind("B")
    #expect(rules[known].day.perDay == 10 && !rules[known].isDisabled)
    // A kind that the policy does not know has the profile's numbers.
    #expect(rules[unknown].policyIndex == nil && !rules[unknown].isDisabled)
    #expect(numbers.budget.perDay == PolicyProfiles.standard.instanceReloads.limit)
    #expect(rules.kinds(forType: "e") == [known])

    var off = Self.kind("A")
    off.enabled = false
    let changed = rules.use(Self.policy([off, Self.kind("B", perDay: 20)]))
    #expect(changed.map(\.0) == [known, unknown])
    #expect(rules[known].isDisabled && rules[unknown].day.perDay == 20)
    #expect(rules.kinds(forType: "e") == [known, unknown])
    rules.checkInvariants()
  }

  @Test(
    "an app's tokens are split over the partitions, none lost and none made", arguments: [1, 2, 7, 12, 64] as [Int32])
  func shares(partitions: Int32) {
    var random = SeededRandom(seed: UInt64(partitions))
    for _ in 0..<50 {
      let perDay = random.below(10_000)
      let rules = Rules(Self.policy([], apps: [AppBudget(app: "a", perDay: perDay)]))
      let shares = (0..<partitions).map { rules.appLimit("a", partition: $0, of: partitions) }
      #expect(shares.reduce(0, +) == perDay, "seed \(partitions)")
      #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1, "seed \(partitions)")
      #expect(rules.appLimit("b", partition: 0, of: partitions) == -1)
    }
  }

  @Test("beyond the bound, kinds that the policy does not name share one name")
  func countedNames() {
    var rules = Rules(Self.policy([Self.kind("policy's")]))
    #expect(rules.countedName("x", kindsMax: 2) == "x")
    for name in ["x", "y"] as [Identifier] { _ = rules.addKind(rules.countedName(name, kindsMax: 2)) }
    let shared = rules.countedName("z", kindsMax: 2)
    #expect(shared != "z" && shared == rules.countedName("zz", kindsMax: 2))
    #expect(rules.countedName("x", kindsMax: 2) == "x")
    #expect(rules.countedName("policy's", kindsMax: 2) == "policy's")
    #expect(rules.countedName(shared, kindsMax: 2) == shared)
  }

  @Test("a refused policy is noted until one is taken over")
  func refused() {
    var rules = Rules(.none)
    #expect(rules.offset == -1 && rules.document == nil && rules.refused == nil)
    rules.note(offset: 5, document: "kinds: {}")
    rules.note(refused: PolicyError(problems: []))
    #expect(rules.refused != nil && rules.offset == 5 && rules.document == "kinds: {}")
    rules.note(offset: 9, document: nil)
    #expect(rules.refused == nil && rules.offset == 9 && rules.document == "kinds: {}")
  }

  @Test("a rule makes the keys of an event, the subject first, and says how many it left out")
  func evaluation() {
    let rule = KindRule(
      Rule(
        event: "flight.delay",
        interests: [
          .subject, InterestTemplate(parts: [.text("airport/"), .field("data.origin")]),
          InterestTemplate(parts: [.field("data.nothing")]),
        ],
        relevance: RelevanceFormula(base: 0.5), maxAge: .minutes(3)),
      kind: KindSlot(1))
    let event = DomainEvent.delay(30, id: "e1", at: PlannerHarness.noon)
    var (keys, leftOut) = ([event.subject, "airport/EWR"], 0)
    let known = rule.evaluate(event, keys: &keys, &leftOut)
    #expect(known.keys == 0b11 && keys.count == 2 && leftOut == 0)
    #expect(known.hasRule && known.maxAge == .minutes(3) && known.relevance == 0.5)
    keys = [event.subject]
    #expect(rule.evaluate(event, keys: &keys, &leftOut).keys == 0b11 && keys == ["flight/UA1", "airport/EWR"])
    keys = (0..<DomainBounds.interestsPerEventMax).map { "key \($0)" }
    #expect(rule.evaluate(event, keys: &keys, &leftOut).keys == 1 && leftOut == 1)
    #expect(keys.count == DomainBounds.interestsPerEventMax)
  }

  @Test("the truth is kept for each subject and each set of displayed fields, which kinds without initial values share")
  func truthKeys() throws {
    func key(_ kind: Identifier, _ displays: [DisplayField], _ subject: Identifier) -> KeyedHash {
      KindDisplay(kind: kind, displays).truthKey(subject: subject.utf8.span, hashKey: .standard)
    }
    let delay = [DisplayField(path: "data.delay", round: 5)]
    let initial = [DisplayField(path: "data.delay", round: 5, initial: .number(0))]
    let keys = [
      key("A", delay, "s"), key("A", delay, "t"), key("A", [DisplayField(path: "data.delay")], "s"),
      key("A", delay + delay, "s"), key("A", initial, "s"), key("B", initial, "s"),
    ]
    #expect(Set(keys).count == keys.count)
    #expect(key("A", delay, "s") == keys[0] && key("B", delay, "s") == keys[0])
    func display(_ kind: Identifier, _ displays: [DisplayField], era: UInt64 = 0) -> KindDisplay {
      KindDisplay(kind: kind, displays, era: era)
    }
    #expect(display("A", delay).truths == display("B", delay).truths)
    #expect(display("A", delay).rowHead != display("B", delay).rowHead)
    #expect(display("A", delay, era: 7).truths != display("B", delay).truths)
  }
}

extension Rules {
  /// The kinds that have rules for an event type, in the order of the policy.
  fileprivate mutating func kinds(forType name: Identifier) -> [KindSlot] {
    let type = type(name)
    return (0..<ruleCount(ofType: type)).map { kind(ofRule: $0, ofType: type) }
  }
}
