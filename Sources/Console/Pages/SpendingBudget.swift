import Auditing
import Domain
import Policies

/// The tokens that the policy in force allows in the hours of the overview, as far as the console can tell: it knows how many devices the store has,
/// and not how many instances each of them shows. Where a ledger belongs to an instance, one instance a device is counted.
struct SpendingBudget {
  private let policy: Policy
  private let kinds: [KindPolicy]
  private let hours: Int
  /// The devices that are counted.
  let devices: Int

  /// Makes a budget.
  ///
  /// - Parameters:
  ///   - policy: The policy in force.
  ///   - activity: The hours.
  ///   - devices: The devices of the store.
  init(_ policy: Policy, _ activity: StoreActivity, devices: Int) {
    self.policy = policy
    kinds = policy.kinds.filter { kind in kind.enabled && activity.kinds.contains { $0.kind == kind.name } }
    hours = activity.hours.count
    self.devices = devices
  }

  /// Returns the tokens of all ledgers of a sort in the hours, evenly over the day; nil if they have no limit.
  func allowed(_ ledger: Command.Ledger) -> Double? {
    switch ledger {
    case .instance:
      // The kind with the most, so that the budget is not made smaller than it is.
      return kinds.filter(\.surface.traits.reloadsByItself).map(\.budget.perDay).max().map {
        Double($0 * hours * devices) / 24
      }
    case .device: return allowed(policy.profile.devicePushes)
    case .background: return allowed(policy.profile.backgroundPushes)
    case .control: return allowed(policy.profile.controlPushes)
    case .activity: return allowed(policy.profile.activityPushes)
    case .start: return allowed(policy.profile.activityStarts)
    case .app:
      let perDay = policy.apps.reduce(0) { $0.addingSaturating($1.perDay) }
      return perDay > 0 ? Double(perDay) * Double(hours) / 24 : nil
    }
  }

  private func allowed(_ rate: BudgetProfile.Rate) -> Double? {
    guard let limit = rate.limit, rate.window > .zero else { return nil }
    let windows = Double(TimeSpan.hours(Int64(hours)).microseconds) / Double(rate.window.microseconds)
    return Double(limit) * windows * Double(devices)
  }
}
