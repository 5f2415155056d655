/// The worth of a reload now, W, in looks: the expected number of looks at a wrong screen that it sets right.
package enum ReloadWorth {
  /// Returns D^1.5 · V. The exponent is above 1 because a screen on which a large difference was corrected stays right
  /// for longer. Square roots are exact in IEEE 754, so the result is the same on every machine.
  /// - Parameters:
  ///   - distance: D, how wrong the screen is, 0…1.
  ///   - looks: V, the looks of the next 20 minutes.
  @inlinable
  @inline(__always)
  package static func looks(distance: Double, ahead looks: Double) -> Double {
    distance * distance.squareRoot() * looks
  }
}
