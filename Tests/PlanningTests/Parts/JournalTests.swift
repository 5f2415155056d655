import Domain
import Testing

@testable import Planning

@Suite("The journal of changes")
struct JournalTests {
  @Test("each device that changed is written once a commit, in the order of the first change")
  func model() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var journal = Journal()
      var marks = Array(repeating: JournalMark(), count: 12)
      var expected: [DeviceSlot] = []
      for step in 0..<200 {
        if random.chance(1, in: 10) {
          journal.clear()
          expected = []
        } else {
          let device = random.below(marks.count)
          journal.touch(DeviceSlot(UInt32(device)), &marks[device])
          if !expected.contains(DeviceSlot(UInt32(device))) { expected.append(DeviceSlot(UInt32(device))) }
        }
        #expect(Array(journal.devices) == expected, "seed \(seed), step \(step)")
      }
    }
  }

  @Test("removals and the policy are noted until the commit, and an app without a record leaves none")
  func removals() {
    var journal = Journal()
    journal.noteRemoval(ofDevice: "d1")
    journal.noteRemoval(ofDevice: "d2")
    journal.noteRemoval(ofApp: "com.example.a")
    journal.noteRemoval(ofApp: nil)
    journal.notePolicy()
    #expect(journal.removedDevices == ["d1", "d2"] && journal.removedApps == ["com.example.a"] && journal.policy)
    journal.clear()
    #expect(journal.removedDevices.isEmpty && journal.removedApps.isEmpty && !journal.policy)
  }
}
