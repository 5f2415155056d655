/// Random numbers that a seed fixes for good: xoshiro256** by Blackman and Vigna (2018), its state filled by SplitMix64
/// as they advise. Integer arithmetic and one exact multiplication only, so every machine and every version of the
/// standard library gives the same numbers; that is why `shuffle(using:)` and `random(in:using:)` are not used here.
///
/// For made-up fleets and simulations, not for secrets.
public struct SeededRandom: Sendable {
  private var a: UInt64
  private var b: UInt64
  private var c: UInt64
  private var d: UInt64

  /// One sequence per pair of seed and stream. Neighbouring streams have nothing in common.
  public init(seed: UInt64, stream: UInt64 = 0) {
    var mixer = SplitMix64(state: stream)
    var state = SplitMix64(state: seed ^ mixer.next())
    a = state.next()
    b = state.next()
    c = state.next()
    // The state must not be all zeros; four zeros in a row do not occur in SplitMix64, whose outputs are all distinct.
    d = state.next()
  }

  /// A state as the reference code has it, for tests.
  init(a: UInt64, b: UInt64, c: UInt64, d: UInt64) {
    (self.a, self.b, self.c, self.d) = (a, b, c, d)
  }

  /// 64 random bits.
  public mutating func next() -> UInt64 {
    let result = Self.rotated(b &* 5, by: 7) &* 9
    let shifted = b << 17
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = Self.rotated(d, by: 45)
    return result
  }

  /// A whole number in `0..<bound`. By multiplication (Lemire, 2019) without rejection: with bounds below 2³² no number
  /// is favoured by more than one in 2³².
  public mutating func below(_ bound: Int) -> Int {
    precondition(bound > 0, "nothing to draw from")
    return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// A number in `0..<1`, a multiple of 2⁻⁵³.
  public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// True in `part` of `whole` cases.
  public mutating func chance(_ part: Int, in whole: Int) -> Bool { below(whole) < part }

  /// One of the values, each as often as its weight says.
  public mutating func pick<Value>(_ choices: [(value: Value, weight: Int)]) -> Value {
    var left = below(choices.reduce(0) { $0 + $1.weight })
    for choice in choices.dropLast() {
      if left < choice.weight { return choice.value }
      left -= choice.weight
    }
    return choices[choices.count - 1].value
  }

  /// Fisher and Yates.
  public mutating func shuffle<Element>(_ elements: inout [Element]) {
    for index in stride(from: elements.count - 1, to: 0, by: -1) { elements.swapAt(index, below(index + 1)) }
  }

  private static func rotated(_ value: UInt64, by bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }
}

/// SplitMix64 by Steele, Lea and Flood (2014): makes well-mixed states from poor seeds such as 1, 2, 3.
struct SplitMix64 {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
