import Domain

/// The memory of the last two hours: what lies back a time t counts e^(−t / 2 h).
enum FadingMemory {
  /// ln 2 times two hours is the half-life of the memory: this is its inverse, in 1 / h.
  private static let halfLivesPerHour = 1 / (2 * 0.693_147_180_559_945_309)

  /// Returns the share of a memory that is left.
  /// - Parameter hours: The time since, in hours.
  @inline(__always)
  static func factor(hours: Double) -> Double { Decay.factor(halfLives: hours * halfLivesPerHour) }
}
