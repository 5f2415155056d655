import Domain

/// The surplus of the pushes to one device in the memory of the last two hours, in 12 bytes. The surplus of a push is the worth that
/// it brought beyond the price of the instances' tokens, in looks.
struct PushSurplus: Equatable {
  /// The surplus of WidgetKit pushes, as of `at`.
  private(set) var widgets: Float = 0
  /// The surplus of background pushes, as of `at`.
  private(set) var background: Float = 0
  /// The second of log time for which the memories are given. Wraps.
  private(set) var at: UInt32 = 0

  /// Creates the memory of a device without pushes.
  init() {}

  /// Adds the surplus of a push. One to a control is not remembered: its rate is its own.
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

  /// Returns the surplus that is remembered of pushes which drew on a rate, in looks.
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
  /// Lists the numbers of the memory, for one pass of a coder.
  /// - Parameters:
  ///   - base: The instant to which the time is relative, in µs.
  ///   - coder: The pass.
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
