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
      var places = Array(repeating: ChunkPlace.unwritten, count: 12)
      var former: [ChunkPlace] = []
      var expected: [DeviceSlot] = []
      for step in 0..<200 {
        if random.chance(1, in: 10) {
          journal.clear()
          for device in expected { places[device.index] = ChunkPlace(raw: UInt32(step)) }
          (expected, former) = ([], [])
        } else {
          let device = random.below(places.count)
          if !expected.contains(DeviceSlot(UInt32(device))) {
            expected.append(DeviceSlot(UInt32(device)))
            former.append(places[device])
          }
          journal.touch(DeviceSlot(UInt32(device)), &places[device])
          #expect(places[device] == .changed)
        }
        #expect(Array(journal.devices) == expected, "seed \(seed), step \(step)")
        #expect(Array(journal.former) == former, "seed \(seed), step \(step)")
      }
    }
  }

  @Test("removals and the policy are noted until the commit, and an app without a record leaves none")
  func removals() {
    var journal = Journal()
    journal.noteRemoval(ofDevice: "d1", at: ChunkPlace(raw: 7))
    journal.noteRemoval(ofDevice: "d2", at: .changed)
    journal.noteRemoval(ofApp: "com.example.a")
    journal.noteRemoval(ofApp: nil)
    journal.notePolicy()
    #expect(journal.removedDevices.map(\.id) == ["d1", "d2"])
    #expect(journal.removedDevices.map(\.place) == [ChunkPlace(raw: 7), .changed])
    #expect(journal.removedApps == ["com.example.a"] && journal.policy)
    journal.clear()
    #expect(journal.removedDevices.isEmpty && journal.removedApps.isEmpty && !journal.policy)
  }
}
