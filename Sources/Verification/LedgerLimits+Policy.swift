import Domain
public import Policies

extension LedgerLimits {
  /// The numbers of a policy.
  public init(_ policy: Policy) {
    func rate(_ rate: BudgetProfile.Rate) -> Rate {
      Rate(limit: rate.limit, windowMicroseconds: rate.window.microseconds, burst: rate.burst)
    }
    let profile = policy.profile
    self.init(
      device: rate(profile.devicePushes), background: rate(profile.backgroundPushes),
      control: rate(profile.controlPushes), start: rate(profile.activityStarts),
      activity: [rate(profile.activityPushes), rate(profile.frequentActivityPushes)])
    for kind in policy.kinds {
      days[kind.name] = Day(perDay: kind.budget.perDay, isRolling: kind.budget.window == .rolling)
    }
  }
}
