public import Domain

/// The limits of one policy that ledgers are recomputed with, as plain numbers. Nil: the limit is not known, so charges to
/// such ledgers are counted and not recomputed.
public struct LedgerLimits: Equatable, Sendable {
  /// A rate with a burst, in the terms of the generic cell rate algorithm (GCRA): the ledger regains one token each
  /// T = window / limit, and at most `burst` are held.
  public struct RateLimit: Hashable, Sendable {
    /// Microseconds between two tokens. 0 is a rate without a limit, which is never charged.
    public var interval: Int64
    /// The number of tokens of a full ledger.
    public var burst: Int64

    /// - Parameters:
    ///   - limit: tokens a window; nil is a rate without a limit, less than 1 counts as 1.
    ///   - windowMicroseconds: the length of the window; not negative.
    ///   - burst: the number of tokens of a full ledger; at least 1.
    public init(limit: Int?, windowMicroseconds: Int64, burst: Int) {
      interval = limit.map { windowMicroseconds / Int64(max(1, $0)) } ?? 0
      self.burst = Int64(burst)
    }
  }

  /// A number of tokens for a day.
  public struct DailyNumber: Hashable, Sendable {
    /// The number of tokens of a full ledger.
    public var perDay: Int
    /// Whether the number holds for any 24 hours instead of a day of the device's time zone.
    public var isRolling: Bool

    /// - Parameters:
    ///   - perDay: the number of tokens of a full ledger.
    ///   - isRolling: whether the number holds for any 24 hours instead of a day of the device's time zone.
    public init(perDay: Int, isRolling: Bool) {
      self.perDay = perDay
      self.isRolling = isRolling
    }
  }

  /// Pushes to the widgets of a device.
  public var device: RateLimit?
  /// Background pushes to a device.
  public var background: RateLimit?
  /// Pushes to the controls of a device.
  public var control: RateLimit?
  /// Pushes that start a Live Activity on a device.
  public var start: RateLimit?
  /// Pushes at priority 10 to a Live Activity: without and with frequent updates. Commands do not say which one applies. Empty:
  /// not known.
  public var activity: [RateLimit]
  /// The number for a day of each instance, by kind.
  public var days: [Identifier: DailyNumber]

  /// - Parameters:
  ///   - device: pushes to the widgets of a device.
  ///   - background: background pushes to a device.
  ///   - control: pushes to the controls of a device.
  ///   - start: pushes that start a Live Activity on a device.
  ///   - activity: each rate that may hold for pushes at priority 10 to a Live Activity.
  ///   - days: the number for a day of each instance, by kind.
  public init(
    device: RateLimit? = nil, background: RateLimit? = nil, control: RateLimit? = nil, start: RateLimit? = nil,
    activity: [RateLimit] = [],
    days: [Identifier: DailyNumber] = [:]
  ) {
    self.device = device
    self.background = background
    self.control = control
    self.start = start
    self.activity = activity
    self.days = days
  }
}
