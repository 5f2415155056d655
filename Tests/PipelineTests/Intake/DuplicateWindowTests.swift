import Domain
import Planning
import Testing

@testable import Pipeline

/// The memory of the newest events.
@Suite("The window of duplicates")
struct DuplicateWindowTests {
  /// Returns whether a window knows an event.
  private func has(_ window: DuplicateWindow, _ source: Identifier, _ id: Identifier) -> Bool {
    var copy = window
    return !copy.insert(source: source, id: id)
  }

  @Test("sources and ids that are only equivalent are different")
  func equivalent() {
    var window = DuplicateWindow(size: 3)
    window.insert(source: "caf\u{e9}", id: "1")
    #expect(has(window, "caf\u{e9}", "1"))
    #expect(!has(window, "cafe\u{301}", "1"))
    window.insert(source: "s", id: "\u{e9}")
    #expect(!has(window, "s", "e\u{301}"))
  }

  @Test("a set of hashes has what was added, also hashes that share their lowest bits")
  func hashes() {
    for seed in 0..<20 as Range<UInt64> {
      var random = SeededRandom(seed: seed, stream: 11)
      var (set, expected) = (HashedIDs(), Set<KeyedHash>())
      for _ in 0..<500 {
        let hash = KeyedHash(
          low: random.below(3) == 0 ? UInt64(random.below(4)) << 40 : random.next() & 0xff, high: random.next() % 3 + 1)
        set.insert(hash)
        expected.insert(hash)
        #expect(set.count == expected.count, "seed \(seed)")
        let other = KeyedHash(low: random.next() & 0x1ff, high: random.next() % 3 + 1)
        #expect(set.contains(hash) && set.contains(other) == expected.contains(other), "seed \(seed)")
      }
    }
  }

  @Test("the last ids are known, the oldest go, and an id belongs to its source")
  func bounded() {
    var window = DuplicateWindow(size: 4)
    for number in 0..<10 {
      #expect(!has(window, "s", "\(number)"))
      window.insert(source: "s", id: "\(number)")
      #expect(window.checkInvariants().isEmpty)
      for known in max(0, number - 3)...number { #expect(has(window, "s", "\(known)")) }
    }
    #expect(!has(window, "s", "0"))
    #expect(!has(window, "t", "9"))
  }

  @Test("a signal is a repeat only if all of its parts are equal")
  func signals() {
    var window = DuplicateWindow(size: 4)
    let signal = Signal(device: "d1", id: "1", time: Timestamp(microseconds: 5), kind: .widgetFetched(instance: "w"))
    func isNew(_ signal: Signal) -> Bool { window.insert(signal) }
    #expect(isNew(signal))
    #expect(!isNew(signal))
    var others = Array(repeating: signal, count: 4)
    others[0].device = "d2"
    others[1].id = "2"
    others[2].time = Timestamp(microseconds: 6)
    others[3].kind = .widgetFetched(instance: nil)
    for other in others { #expect(isNew(other)) }
  }
}
