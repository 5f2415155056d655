import Domain
import Policies
import Testing

@testable import Planning

/// A fleet with one widget, and an event that concerns it.
private struct DecidingCase: ~Copyable {
  var fleet: Fleet
  var event = EventInHand()
  let device: DeviceSlot
  let instance: InstanceSlot
  let entry: EntrySlot

  /// - Parameter demand: The demand that is expected before anything is known: the price of tokens.
  init(demand: DemandPrior = .none) {
    var rate = BudgetProfile.Rate.unlimited
    rate.limit = 2
    rate.burst = 2
    fleet = Fleet(
      partition: 0, partitionCount: 1,
      policy: .flights({ $0.budget.minInterval = .seconds(30) }, also: { $0.profile.devicePushes = rate }),
      bounds: .expecting(demand), offsets: .system, hashKey: .standard)
    var output = PlannerOutput()
    fleet.begin(recordAt: 0, timestamp: Timestamp(microseconds: PlannerHarness.noon))
    fleet.register(.phone(), into: &output)
    guard let device = fleet.registry.device(named: "d1"), let instance = fleet.registry.find("w1", of: device) else {
      preconditionFailure("the device of the test is not registered")
    }
    (self.device, self.instance) = (device, instance)
    entry = fleet.registry.instances[instance].firstEntry
    fleet.begin(recordAt: 1, timestamp: fleet.now + .seconds(1))
    var walk = FanOut()
    walk.begin(.delay(30, id: "e1", at: fleet.now.microseconds), &event, in: &fleet)
  }

  var kind: KindSlot { fleet.registry.instances[instance].kind }

  var admission: Admission { fleet.admission(of: event, nil, entry: entry, instance: instance, device: device) }

  /// Lets the event wait on the instance.
  /// - Returns: The examination of the push to which it leads.
  mutating func examination() -> Examination {
    var (output, terms) = (PlannerOutput(), ContiguousArray<InstanceTerms>())
    fleet.apply(admission, of: event, entry: entry, instance: instance, device: device, into: &output)
    let push = fleet.question(device, trigger: instance)
    fleet.bringUpToDate(push, event, into: &output)
    return fleet.examination(of: push, terms: &terms)
  }
}

@Suite("Deciding, without a planner") struct DecidingTests {
  @Test("the first check that holds gives the reason why an event does not wait")
  func admission() {
    let checks: [(reason: Reason, arrange: (inout DecidingCase) -> Void)] = [
      (.duplicate, { $0.event.standing = .duplicate }),
      (
        .staleEvent,
        {
          $0.event.evaluations[$0.kind.index].maxAge = .minutes(5)
          $0.event.time = $0.fleet.now - .minutes(6)
        }
      ),
      (.cosmetic, { $0.event.evaluations[$0.kind.index].relevance = 0 }),
      (.notVisible, { $0.event.truths[0].difference = 0 }),
      (.tokenDead, { $0.fleet.registry.reject(token: "aa11", of: $0.device) }),
      (.kindDisabled, { $0.fleet.use(.flights { $0.enabled = false }) }),
      (.appForeground, { $0.fleet.registry.set(foregroundSince: $0.fleet.now, of: $0.device) }),
      (.reloadImminent, { $0.fleet.registry.set(nextReload: $0.fleet.now, $0.instance) }),
    ]
    for first in 0...checks.count {
      var decided = DecidingCase()
      for check in checks[first...] { check.arrange(&decided) }
      let expected = first < checks.count ? checks[first].reason : nil
      let admission = decided.admission
      #expect(admission.reason == expected)
      #expect(admission.reason != nil || admission.distance ?? 0 > 0, "what waits is something to be shown")
    }
  }

  @Test("the first limit that holds gives the reason why a push waits, and the time until which")
  func examination() {
    let limits: [(reason: Reason, until: TimeSpan, arrange: (inout DecidingCase) -> Void)] = [
      (.minInterval, .seconds(20), { $0.fleet.registry.noteReload($0.instance, at: $0.fleet.now - .seconds(10)) }),
      (
        .budgetInstance, .minutes(16 * 60 - 1),
        {
          let limits = $0.fleet.rules[$0.kind].day
          for _ in 0..<48 {
            $0.fleet.ledgers.charge(
              &$0.fleet.registry[day: $0.instance], of: $0.instance, limits, now: $0.fleet.now)
          }
        }
      ),
      (
        .budgetDevice, .minutes(30),
        {
          let rate = $0.fleet.ledgers.rate(.widgetPushes)
          for _ in 0..<2 { rate.charge(&$0.fleet.registry[rate: .widgetPush, $0.device], now: $0.fleet.now) }
        }
      ),
      (
        .budgetApp, .minutes(12 * 60 - 1),
        {
          let app = $0.fleet.registry.devices[$0.device].app
          $0.fleet.ledgers.apps.set(limit: 1, of: app)
          $0.fleet.ledgers.apps.charge(app, at: 1, now: $0.fleet.now)
        }
      ),
    ]
    for first in 0...limits.count {
      for isDear in [false, true] {
        var decided = DecidingCase(demand: isDear ? .high : .none)
        for limit in limits[first...] { limit.arrange(&decided) }
        let weighing = decided.examination().weighing
        let expected = first < limits.count ? limits[first].reason : isDear ? .belowPrice : nil
        #expect(weighing.block == expected)
        #expect((weighing.worth < weighing.price) == isDear, "limits change neither what a push is worth nor its price")
        if first < limits.count {
          let until = weighing.clearAt - decided.fleet.now
          // The budget day begins at 4 o'clock, within ten minutes.
          #expect(until >= limits[first].until && until <= limits[first].until + .minutes(11), "\(expected as Any)")
        }
      }
    }
  }
}
