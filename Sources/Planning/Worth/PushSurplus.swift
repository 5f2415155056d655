import Domain

/// The surplus of the pushes made to one device in about the last two hours (`FadingMemory`), in 12 bytes. The surplus
/// of a push is the worth that it brought beyond the price of the instances' tokens, in looks.
struct PushSurplus: Equatable {
  /// The surplus of WidgetKit pushes, faded to `at`. Looks.
  private(set) var widgets: Float = 0
  /// The surplus of background pushes, faded to `at`. Looks.
  private(set) var background: Float = 0
  /// The log time for which the other fields are given, in seconds since 1970. Wraps.
  private(set) var at: UInt32 = 0

  /// Creates the memory of a device without pushes.
  init() {}

  /// Adds the surplus of a push. A push to a control is not remembered, because each control has its own rate.
  mutating func add(_ surplus: Double, _ rate: ChargedRate, now: Timestamp) {
    let faded = Float(factor(now))
    widgets *= faded
    background *= faded
    at = Self.second(now)
    switch rate {
    case .widgetPushes: widgets += Float(surplus)
    case .backgroundPushes: background += Float(surplus)
    case .controlPushes: break
    }
  }

  /// Returns the surplus of the pushes that drew on a rate, faded to now, in looks; 0 for pushes to controls.
  func remembered(_ rate: ChargedRate, now: Timestamp) -> Double {
    switch rate {
    case .widgetPushes: Double(widgets) * factor(now)
    case .backgroundPushes: Double(background) * factor(now)
    case .controlPushes: 0
    }
  }

  private func factor(_ now: Timestamp) -> Double {
    FadingMemory.factor(hours: Double(Self.second(now) &- at) / 3600)
  }

  private static func second(_ instant: Timestamp) -> UInt32 {
    UInt32(truncatingIfNeeded: instant.microseconds / 1_000_000)
  }
}

extension PushSurplus {
  /// Passes each number to a coder, which notes, writes or reads it.
  /// - Parameters:
  ///   - base: The instant to which the time is relative, in µs.
  ///   - coder: The coder.
  /// - Throws: The coder's error.
  @inline(__always)
  mutating func numbers<Coder: StateCoder & ~Copyable & ~Escapable>(
    since base: Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.float(&widgets, "the surplus of widget pushes")
    try coder.float(&background, "the surplus of background pushes")
    try coder.second(&at, since: base, "the time of a memory")
  }
}
