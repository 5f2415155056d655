/// A random number generator whose seed fixes every number: xoshiro256** by Blackman and Vigna (2018). SplitMix64 fills
/// its state, as its authors recommend.
///
/// Fleets, device models, benchmarks and tests use it. It is not suitable for secrets.
///
/// Its own methods use integer arithmetic and at most one exact multiplication, so every machine and every version of the
/// standard library returns the same numbers. Where output must stay the same for a seed, call these methods only. The
/// standard library's `random(in:using:)` and `shuffled(using:)` accept this generator too, but their algorithms may
/// change between Swift versions: use them in tests only.
public struct SeededRandom: RandomNumberGenerator, Sendable {
  private var a: UInt64
  private var b: UInt64
  private var c: UInt64
  private var d: UInt64

  /// Creates the generator of one sequence.
  /// - Parameters:
  ///   - seed: Any number, small ones included.
  ///   - stream: Selects one of many independent sequences of the same seed.
  public init(seed: UInt64, stream: UInt64 = 0) {
    var mixer = SplitMix64(state: stream)
    var state = SplitMix64(state: seed ^ mixer.next())
    a = state.next()
    b = state.next()
    c = state.next()
    // An all-zero state would return zeros for ever. SplitMix64 never returns the same number twice in a row, so four
    // zeros cannot occur.
    d = state.next()
  }

  /// Creates a generator with a given state. For comparison with the reference code in tests.
  init(a: UInt64, b: UInt64, c: UInt64, d: UInt64) {
    (self.a, self.b, self.c, self.d) = (a, b, c, d)
  }

  /// Returns the next 64 random bits.
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

  /// Returns a whole number in `0..<bound`, by multiplication (Lemire, 2019) without rejection. With a bound below 2³²,
  /// no number is more likely than another by more than one part in 2³².
  /// - Parameter bound: Must be positive.
  public mutating func below(_ bound: Int) -> Int {
    precondition(bound > 0, "the bound of a random number must be positive")
    return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// Returns a number in `0..<1`, a multiple of 2⁻⁵³.
  public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns true with a probability of `part` in `whole`.
  /// - Parameters:
  ///   - part: 0 or less is never true, `whole` or more always.
  ///   - whole: Must be positive.
  public mutating func chance(_ part: Int, in whole: Int) -> Bool { below(whole) < part }

  /// Returns one of the values, each with a probability in proportion to its weight.
  /// - Parameter choices: At least one. Weights are not negative, and their sum is positive.
  public mutating func pick<Value>(_ choices: [(value: Value, weight: Int)]) -> Value {
    var left = below(choices.reduce(0) { $0 + $1.weight })
    for choice in choices.dropLast() {
      if left < choice.weight { return choice.value }
      left -= choice.weight
    }
    return choices[choices.count - 1].value
  }

  /// Puts the elements into a random order, by the algorithm of Fisher and Yates.
  public mutating func shuffle<Element>(_ elements: inout [Element]) {
    for index in stride(from: elements.count - 1, to: 0, by: -1) { elements.swapAt(index, below(index + 1)) }
  }

  private static func rotated(_ value: UInt64, by bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }
}
