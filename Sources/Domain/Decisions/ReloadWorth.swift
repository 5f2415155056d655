/// W, what a reload is worth now, in looks.
package enum ReloadWorth {
  /// Returns D^1.5 · V. The exponent is above 1 because a large difference also stays right for longer once it is shown.
  /// Square roots are exact in IEEE 754, so the result is the same on every machine.
  /// - Parameters:
  ///   - distance: D, how wrong the screen is, 0…1.
  ///   - looks: V, the looks of the next 20 minutes.
  @inline(__always)
  package static func looks(distance: Double, ahead looks: Double) -> Double {
    distance * distance.squareRoot() * looks
  }
}
