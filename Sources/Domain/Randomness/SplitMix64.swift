/// SplitMix64 by Steele, Lea and Flood (2014). Turns poor seeds such as 1, 2, 3 into well-mixed states.
package struct SplitMix64 {
  /// The seed at first, then the position in the sequence.
  package var state: UInt64

  /// Creates a sequence.
  /// - Parameter state: any number.
  package init(state: UInt64) { self.state = state }

  /// Returns the next 64 random bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
