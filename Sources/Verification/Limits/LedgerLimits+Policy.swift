import Domain
public import Policies

extension LedgerLimits {
  /// Takes the limits from a policy and its profile.
  public init(_ policy: Policy) {
    func rate(_ rate: BudgetProfile.Rate) -> RateLimit {
      RateLimit(limit: rate.limit, windowMicroseconds: rate.window.microseconds, burst: rate.burst)
    }
    let profile = policy.profile
    self.init(
      device: rate(profile.devicePushes), background: rate(profile.backgroundPushes),
      control: rate(profile.controlPushes), start: rate(profile.activityStarts),
      activity: [rate(profile.activityPushes), rate(profile.frequentActivityPushes)])
    for kind in policy.kinds {
      // A backend may register a widget under the kind of a control, and charges do not tell which it was.
      let mayReloadByItself = kind.surface.traits.reloadsByItself || kind.surface == .control
      days[kind.name] = DailyNumber(
        perDay: kind.budget.perDay, isRolling: kind.budget.window == .rolling,
        countsTimelines: mayReloadByItself && profile.timelineReloads.areCharged)
    }
  }

  /// The rates that may apply to a ledger; empty if none is known, and for ledgers that count by the day.
  func rates(of ledger: Command.Ledger) -> [RateLimit] {
    switch ledger {
    case .device: device.map { [$0] } ?? []
    case .background: background.map { [$0] } ?? []
    case .control: control.map { [$0] } ?? []
    case .start: start.map { [$0] } ?? []
    case .activity: activity
    case .instance, .app: []
    }
  }
}
