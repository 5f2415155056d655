import Auditing
import Domain
import Policies

/// The tokens that the policy in force allows in the hours of the overview. With a view of the registrations they are those of all instances
/// that are shown now. Without one the console knows only how many devices the store has; where a ledger belongs to an instance, one
/// instance a device is counted then.
struct SpendingBudget {
  private let policy: Policy
  private let kinds: [KindPolicy]
  private let hours: Int
  /// The source of the numbers of devices and instances.
  let source: InstanceCount
  /// The devices that are counted.
  let devices: Int

  /// The knowledge of what is shown.
  enum InstanceCount: Equatable {
    /// A view of the registrations tells.
    case shown(ShownInstances)
    /// The view is being read for the first time.
    case filling
    /// The view cannot be read.
    case unreadable
    /// The console has no view.
    case unknown

    /// The numbers; nil unless a view tells.
    fileprivate var shown: ShownInstances? { if case .shown(let shown) = self { shown } else { nil } }

    /// Whether a view tells.
    var isKnown: Bool { shown != nil }
  }

  private var shown: ShownInstances? { source.shown }

  /// Makes a budget.
  ///
  /// - Parameters:
  ///   - policy: The policy in force.
  ///   - activity: The hours.
  ///   - stored: The devices of the store.
  ///   - source: What is shown, if the console knows.
  init(_ policy: Policy, _ activity: StoreActivity, stored: Int, _ source: InstanceCount) {
    self.policy = policy
    self.source = source
    hours = activity.hours.count
    let shown = source.shown
    devices = shown?.devices ?? stored
    kinds = policy.kinds.filter { kind in
      kind.enabled
        && (shown.map { $0.instances[kind.name.text] != nil } ?? activity.kinds.contains { $0.kind == kind.name })
    }
  }

  /// Whether the budget of a sort of ledgers can be told. Activities that have ended had tokens, too, and nobody knows how many they were.
  func isKnown(_ ledger: Command.Ledger) -> Bool { shown == nil || ledger != .activity }

  /// Returns the tokens of all ledgers of a sort in the hours, evenly over the day; nil if they have no limit, or if it is not known.
  func allowed(_ ledger: Command.Ledger) -> Double? {
    guard isKnown(ledger) else { return nil }
    switch ledger {
    case .instance: return allowedReloads
    case .device, .background, .control, .activity, .start:
      guard let rate = policy.profile.rates(of: ledger).first else { return nil }
      return allowed(rate, ledgers: ledger == .control ? instances(of: .control) : devices)
    case .app:
      let perDay = policy.apps.reduce(0) { $0.addingSaturating($1.perDay) }
      return perDay > 0 ? Double(perDay) * Double(hours) / 24 : nil
    }
  }

  private var allowedReloads: Double? {
    let reloading = kinds.filter(\.surface.traits.reloadsByItself)
    guard let most = reloading.map(\.budget.perDay).max() else { return nil }
    // Without a view the kind with the most, so that the budget is not made smaller than it is.
    let perDay =
      shown.map { shown in
        reloading.reduce(0.0) { $0 + Double($1.budget.perDay) * Double(shown.instances[$1.name.text] ?? 0) }
      } ?? Double(most) * Double(devices)
    return perDay * Double(hours) / 24
  }

  private func instances(of surface: Surface) -> Int {
    guard let shown else { return devices }
    return kinds.filter { $0.surface == surface }.reduce(0) { $0 + (shown.instances[$1.name.text] ?? 0) }
  }

  private func allowed(_ rate: BudgetProfile.Rate, ledgers: Int) -> Double? {
    guard let limit = rate.limit, rate.window > .zero else { return nil }
    let windows = Double(TimeSpan.hours(Int64(hours)).microseconds) / Double(rate.window.microseconds)
    return Double(limit) * windows * Double(ledgers)
  }
}
