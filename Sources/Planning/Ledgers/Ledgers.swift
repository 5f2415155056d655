import Domain
import Policies

/// The budgets: the limits of rates, the charges of rolling windows, and the tokens of apps.
///
/// The counts of a device and of an instance are stored with them in the registry, as values that only this folder
/// changes: `RateState`, `DayWindow`, `LastCommand`. `RollingCharges` and `AppTable` are tables of this struct. A push
/// is charged to several ledgers; all of them are checked before the first one is charged.
struct Ledgers {
  /// The rates of the pushes of reloads, by `ChargedRate`.
  private var pushes: ContiguousArray<RateLedger>
  /// The rate of priority-10 pushes to one activity.
  private(set) var activityPushes: RateLedger
  /// The rate of priority-10 pushes to one activity for which the person allows frequent updates.
  private(set) var frequentActivityPushes: RateLedger
  /// The rate of activities started by push on a device.
  private(set) var activityStarts: RateLedger

  /// The charges of the last 24 hours, of the instances whose kind counts a rolling window.
  var rolling = RollingCharges()
  /// The tokens of the apps.
  var apps = AppTable()

  /// Creates the ledgers of a profile, with nothing spent.
  init(_ profile: BudgetProfile) {
    pushes = ContiguousArray(
      ChargedRate.allCases.map { RateLedger(profile.rates(of: $0.traits.ledger).first ?? .unlimited) })
    activityPushes = RateLedger(profile.activityPushes)
    frequentActivityPushes = RateLedger(profile.frequentActivityPushes)
    activityStarts = RateLedger(profile.activityStarts)
  }

  /// Takes over the limits of another profile. Tokens that were spent stay spent.
  mutating func use(_ profile: BudgetProfile) {
    let next = Ledgers(profile)
    (pushes, activityStarts) = (next.pushes, next.activityStarts)
    (activityPushes, frequentActivityPushes) = (next.activityPushes, next.frequentActivityPushes)
  }

  /// Returns the rate that a push draws on.
  func rate(_ rate: ChargedRate) -> RateLedger { pushes[Int(rate.rawValue)] }

  /// Returns the rate of priority-10 pushes to an activity.
  /// - Parameter frequentPushes: Whether the person allows frequent updates.
  func activityRate(frequentPushes: Bool) -> RateLedger { frequentPushes ? frequentActivityPushes : activityPushes }

  /// Traps if an invariant is broken that must hold whenever no log record is being processed. Reads everything; for
  /// tests.
  /// - Parameter isUsed: Returns whether an instance exists.
  func checkInvariants(isUsed: (InstanceSlot) -> Bool) {
    apps.checkInvariants()
    rolling.checkInvariants(isUsed: isUsed)
  }
}
