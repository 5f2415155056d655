public import Domain
public import Policies

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

  /// A limit by the day: the number of tokens for a day, or for any 24 hours.
  public struct DailyNumber: Hashable, Sendable {
    /// The number of tokens of a full ledger.
    public var perDay: Int
    /// Whether the number holds for any 24 hours instead of a day of the device's time zone.
    public var isRolling: Bool
    /// Whether reloads that no command led to take tokens, too: those of a widget's own timeline.
    public var countsTimelines: Bool

    /// - Parameters:
    ///   - perDay: the number of tokens of a full ledger.
    ///   - isRolling: whether the number holds for any 24 hours instead of a day of the device's time zone.
    ///   - countsTimelines: whether reloads that no command led to take tokens, too.
    public init(perDay: Int, isRolling: Bool, countsTimelines: Bool = false) {
      self.perDay = perDay
      self.isRolling = isRolling
      self.countsTimelines = countsTimelines
    }
  }

  /// The rates that may apply to a ledger; none for a ledger whose limit is not known, and for those that count by the day. An activity
  /// has one without and one with frequent updates: commands do not say which one applies.
  public var rates: [Command.Ledger: [RateLimit]]
  /// The number of tokens that an instance has for a day, by its kind.
  public var days: [Identifier: DailyNumber]

  /// Creates limits.
  /// - Parameters:
  ///   - rates: The rates that may apply to a ledger.
  ///   - days: The number of tokens that an instance has for a day, by its kind.
  public init(rates: [Command.Ledger: [RateLimit]] = [:], days: [Identifier: DailyNumber] = [:]) {
    self.rates = rates
    self.days = days
  }
}

extension LedgerLimits {
  /// Takes the limits from a policy and its profile.
  public init(_ policy: Policy) {
    let profile = policy.profile
    self.init()
    for ledger in Command.Ledger.allCases {
      rates[ledger] = profile.rates(of: ledger).map {
        RateLimit(limit: $0.limit, windowMicroseconds: $0.window.microseconds, burst: $0.burst)
      }
    }
    for kind in policy.kinds {
      // A backend may register a widget under the kind of a control, and charges do not tell which it was.
      let mayReloadByItself = kind.surface.traits.reloadsByItself || kind.surface == .control
      days[kind.name] = DailyNumber(
        perDay: kind.budget.perDay, isRolling: kind.budget.window == .rolling,
        countsTimelines: mayReloadByItself && profile.timelineReloads.areCharged)
    }
  }
}
