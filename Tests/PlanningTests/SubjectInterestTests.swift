import Domain
import Testing

@testable import Planning

/// Tests of the slot of an interest key that the entry of its subject keeps.
struct SubjectInterestTests {
  private typealias H = PlannerHarness

  private static var bounds: PlannerBounds {
    var bounds = PlannerBounds.expecting(.none)
    bounds.subjectsPerGenerationMax = 6
    return bounds
  }

  @Test("an event reaches who listens to its subject, whatever other keys had the same slots before")
  func reached() {
    for seed in 1...8 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var harness = H()
      // So few that the memory forgets subjects often, and their entries are used again.
      harness.planner = Planner(policy: .flights(), bounds: Self.bounds)
      harness.losesPlanner = { random.next() % 50 == 0 }
      var listening: [Identifier: Identifier] = [:]
      var reached = 0
      for round in 0..<600 {
        let now = H.noon + Int64(round) * 1_000_000
        let device: Identifier = "d\(random.next() % 5)"
        // Texts of several sizes, because the place of a text is used again for one of its size.
        let number = random.next() % 12
        let subject: Identifier = number % 3 == 0 ? "flight/UA\(number)" : "flight/a longer name than others/\(number)"
        switch random.next() % 6 {
        case 0:
          harness.apply(.forget(device: device), at: now)
          listening[device] = nil
        case 1:
          harness.register(.phone(device, widgets: [.flight(interests: [subject])], at: now), at: now)
          listening[device] = subject
        default:
          let type: Identifier = random.next() % 2 == 0 ? "flight.delay.changed" : "other"
          harness.event(.delay(Double(round % 60), id: "e\(round)", subject: subject, at: now, type: type))
          let expected = listening.filter { $0.value == subject }.keys.sorted()
          let told = harness.last.filter { $0.event == "e\(round)" }.map(\.device)
          #expect(Set(told) == Set(expected), "seed \(seed), round \(round)")
          reached += expected.count
        }
      }
      #expect(reached > 50 && harness.restarts > 0 && harness.planner.subjects.generation > 5, "seed \(seed)")
      harness.planner.checkInvariants()
    }
  }
}
