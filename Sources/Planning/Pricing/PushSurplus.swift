import Domain

/// The surplus of the pushes made to one device in about the last two hours (`FadingMemory`), in 16 bytes. The surplus
/// of a push is the worth that it brought beyond the price of the instances' tokens, in looks.
struct PushSurplus: Equatable {
  /// The surplus of WidgetKit pushes, faded to `at`. Looks.
  private(set) var widgets: Float = 0
  /// The surplus of background pushes, faded to `at`. Looks.
  private(set) var background: Float = 0
  /// The log time of the newest push, for which the other fields are given, in seconds since 1970. Wraps.
  private(set) var at: UInt32 = 0
  /// The surplus of the newest push, which a refund takes out again. Looks.
  private(set) var last: Float = 0

  /// Creates the memory of a device without pushes.
  init() {}

  /// Adds the surplus of a push. A push to a control is not remembered, because each control has its own rate.
  mutating func add(_ surplus: Double, _ rate: ChargedRate, now: Timestamp) {
    let faded = Float(factor(now))
    widgets *= faded
    background *= faded
    at = Self.second(now)
    last = Float(surplus)
    self[rate] += last
  }

  /// Takes out the surplus of the newest push, because the push was refunded.
  /// - Parameter rate: The rate that the push drew on.
  mutating func refund(_ rate: ChargedRate) {
    self[rate] = max(0, self[rate] - last)
    last = 0
  }

  /// Returns the surplus of the pushes that drew on a rate, faded to now, in looks; 0 for pushes to controls.
  func remembered(_ rate: ChargedRate, now: Timestamp) -> Double {
    Double(self[rate]) * factor(now)
  }

  /// The surplus of the pushes that drew on a rate, faded to `at`; always 0 for pushes to controls.
  private subscript(rate: ChargedRate) -> Float {
    get {
      switch rate {
      case .widgetPushes: widgets
      case .backgroundPushes: background
      case .controlPushes: 0
      }
    }
    set {
      switch rate {
      case .widgetPushes: widgets = newValue
      case .backgroundPushes: background = newValue
      case .controlPushes: break
      }
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
  mutating func numbers<Coder: StateCoder & ~Copyable & ~Escapable>(
    since base: Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.float(&widgets, "the surplus of widget pushes")
    try coder.float(&background, "the surplus of background pushes")
    try coder.second(&at, since: base, "the time of a memory")
    try coder.float(&last, "the surplus of a push")
  }
}
