package import Domain

/// Exponential decay that gives the same bits on every machine, because it only adds and multiplies. The C library's `exp2`
/// may use other instructions on another processor, and a replay there would not be byte-identical.
package enum Decay {
  /// Returns 2^(−halfLives), with a relative error below 1e-9; 0 from 60 half-lives on. The whole half-lives go into the
  /// exponent; the rest f, in 0..<1, into the Taylor series of e^(−f·ln 2) up to the 10th power. Its parts are independent (Estrin's
  /// scheme), so that a processor computes them side by side.
  /// - Parameter halfLives: The age in half-lives. A negative one counts as 0.
  @inline(__always)
  package static func factor(halfLives: Double) -> Double {
    if halfLives <= 0 { return 1 }
    if halfLives >= 60 { return 0 }
    let whole = Int(halfLives)
    let x = (halfLives - Double(whole)) * -0.693147180559945309
    let (square, fourth) = (x * x, (x * x) * (x * x))
    let low = (1 + x) + (0.5 + x * 0.16666666666666666) * square
    let middle =
      (0.041666666666666664 + x * 0.008333333333333333) + (0.001388888888888889 + x * 0.0001984126984126984) * square
    let high = (0.0000248015873015873 + x * 0.0000027557319223985893) + 0.0000002755731922398589 * square
    let sum = (low + middle * fourth) + high * (fourth * fourth)
    return sum * Double(bitPattern: UInt64(1023 - whole) << 52)
  }

  /// Returns the share of a fading value that is left after a time: 0…1.
  /// - Parameters:
  ///   - age: The time since the value was whole.
  ///   - inverseHalfLife: The inverse of the half-life, in 1 / µs.
  @inline(__always)
  package static func factor(age: TimeSpan, inverseHalfLife: Double) -> Double {
    factor(halfLives: Double(age.microseconds) * inverseHalfLife)
  }
}
