import Auditing
import Domain
import Policies
import Testing

@testable import Console

@Suite("The budget of the overview") struct SpendingBudgetTests {
  @Test(
    "the budget of the overview is what the policy allows to the devices of the store, and the drawing has its line")
  func budget() throws {
    var batch = AuditBatch()
    for n in 0..<10 {
      batch.append(PageSample.decision(n, event: "e\(n)", device: "d\(n)", command: "c-0-\(n)-0"))
      batch.append(PageSample.command(n, device: "d\(n)", kind: "FlightStatus", event: "e\(n)"))
    }
    let sample = try PageSample(batch)
    let store = try sample.context.store()
    var policy = try PolicyDocument(yaml: ClusterTests.policy, file: "p").policy
    policy.profile.devicePushes.limit = 5
    policy.profile.devicePushes.window = .hours(1)
    policy.profile.controlPushes = .unlimited
    for (hours, reloads) in [(1, 20.0), (24, 480), (72, 1440)] {
      let budget = try SpendingBudget(
        policy, store.activity(hours: hours), stored: store.summary().devices, .unknown)
      #expect(budget.devices == 10 && budget.allowed(.instance) == reloads)
      #expect(budget.allowed(.device) == Double(50 * hours) && budget.allowed(.control) == nil)
      #expect(budget.allowed(.app) == nil)
    }
    policy.apps = [AppBudget(app: "a", perDay: 600), AppBudget(app: "b", perDay: 120)]
    let activity = try store.activity(hours: 6)
    let budget = SpendingBudget(policy, activity, stored: 10, .unknown)
    #expect(budget.allowed(.app) == 180)
    let drawing = try #require(SpendingChart.drawing(activity, budget, PageTime())?.text)
    #expect(drawing.contains("instance: 10 of 120") && drawing.contains(">8 % of 120<"), "\(drawing)")
    #expect(drawing.contains("class=\"limit\""))
    #expect(SpendingChart.drawing(activity, nil, PageTime())?.text.contains("class=\"limit\"") == false)
    // A kind that had no decision, or is switched off, adds nothing.
    policy.kinds[0].enabled = false
    #expect(SpendingBudget(policy, activity, stored: 10, .unknown).allowed(.instance) == nil)
  }

  @Test("with a view of the registrations, the budget of the overview is that of all instances that are shown")
  func budgetOfInstances() throws {
    var batch = AuditBatch()
    batch.append(PageSample.decision(0, event: "e", device: "d", command: "c-0-0-0"))
    batch.append(PageSample.command(0, device: "d", kind: "FlightStatus", event: "e"))
    let sample = try PageSample(batch)
    let activity = try sample.context.store().activity(hours: 12)
    var policy = try PolicyDocument(yaml: ClusterTests.policy, file: "p").policy
    (policy.profile.devicePushes.limit, policy.profile.devicePushes.window) = (5, .hours(1))
    policy.profile.controlPushes = policy.profile.devicePushes
    policy.profile.activityPushes = policy.profile.devicePushes
    let reload = try #require(policy.kinds.first)
    func kind(_ name: String, _ surface: Surface, perDay: Int) -> KindPolicy {
      var kind = reload
      (kind.name, kind.surface, kind.budget.perDay, kind.enabled) = (Identifier(name), surface, perDay, true)
      return kind
    }
    policy.kinds = [
      kind("W", .widget, perDay: 40), kind("B", .background, perDay: 10), kind("C", .control, perDay: 99),
      kind("A", .liveActivity, perDay: 99), kind("N", .widget, perDay: 1000),
    ]
    let instances = ["W": 30, "B": 7, "C": 4, "A": 3, "Unknown": 1000]
    let shown = ShownInstances(devices: 20, instances: instances, ageSeconds: 9)
    let budget = SpendingBudget(policy, activity, stored: 1, .shown(shown))
    #expect(budget.devices == 20)
    #expect(budget.allowed(.instance) == 635)
    #expect(budget.allowed(.device) == 1200)
    #expect(budget.allowed(.control) == 240)
    // How many activities have ended is not known.
    #expect(budget.allowed(.activity) == nil && !budget.isKnown(.activity) && budget.isKnown(.control))
    policy.kinds[0].enabled = false
    #expect(SpendingBudget(policy, activity, stored: 1, .shown(shown)).allowed(.instance) == 35)
    // A view that does not know all yet is not counted, and the page says why.
    #expect(SpendingBudget(policy, activity, stored: 8, .filling).devices == 8)
  }
}
