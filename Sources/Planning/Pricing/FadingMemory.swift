import Domain

/// The fading of the *memory of the last two hours*: an amount from a time t ago counts e^(−t / 2 h) of its size.
enum FadingMemory {
  /// ln 2 times two hours is the half-life of the memory: this is its inverse, in 1 / h.
  private static let halfLivesPerHour = 1 / (2 * 0.693_147_180_559_945_309)

  /// Returns the factor by which an amount has faded, 0…1.
  /// - Parameter hours: The time that has passed since the amount came, in hours.
  @inline(__always)
  static func factor(hours: Double) -> Double { Decay.factor(halfLives: hours * halfLivesPerHour) }
}
