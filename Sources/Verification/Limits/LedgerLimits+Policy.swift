import Domain
public import Policies

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
