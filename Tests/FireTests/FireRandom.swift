/// A SplitMix64 generator. The same seed gives the same faults at the same places, but not at the same instants.
struct FireRandom {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  mutating func next(_ range: ClosedRange<UInt64>) -> UInt64 {
    range.lowerBound + next() % (range.upperBound - range.lowerBound + 1)
  }

  mutating func seconds(_ low: Double, _ high: Double) -> Double {
    low + (high - low) * Double(next() >> 11) / Double(1 << 53)
  }
}
