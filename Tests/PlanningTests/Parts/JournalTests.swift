import Domain
import Testing

@testable import Planning

@Suite("The journal of changes")
struct JournalTests {
  @Test("each device that changed is written once a commit, in the order of the first change")
  func model() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var h = PlannerHarness()
      for number in 0..<12 { h.register(.phone(Identifier("device-\(number)"))) }
      h.planner.takeChanges { _, _ in }
      var expected: [DeviceSlot] = []
      for step in 0..<200 {
        if random.chance(1, in: 10) {
          h.planner.takeChanges { _, _ in }
          expected = []
        } else {
          let device = DeviceSlot(UInt32(random.below(12)))
          if !expected.contains(device) { expected.append(device) }
          h.planner.fleet.touch(device)
          #expect(h.planner.fleet.registry.devices[device].flags.contains(.changed))
        }
        #expect(Array(h.planner.fleet.journal.devices) == expected, "seed \(seed), step \(step)")
      }
    }
  }

  @Test("removals and the policy are noted until the commit, and an app without a record leaves none")
  func removals() {
    var journal = Journal()
    journal.noteRemoval(ofDevice: "d1", at: ChunkPlace(raw: 7))
    journal.noteRemoval(ofDevice: "d2", at: .unwritten)
    journal.noteRemoval(ofApp: "com.example.a")
    journal.noteRemoval(ofApp: nil)
    journal.notePolicy()
    #expect(journal.removedDevices.map(\.id) == ["d1", "d2"])
    #expect(journal.removedDevices.map(\.place) == [ChunkPlace(raw: 7), .unwritten])
    #expect(journal.removedApps == ["com.example.a"] && journal.policy)
    journal.clear()
    #expect(journal.removedDevices.isEmpty && journal.removedApps.isEmpty && !journal.policy)
  }
}
