import Domain
import Policies

/// The budgets: the limits of rates, the day's charges of instances, and the apps' tokens.
///
/// The counts of one device and of one instance stand with them in the registry, as values that only this folder changes:
/// `RateState`, `DayWindow`, `LastCommand`. Every ledger is checked before the first of them is charged.
struct Ledgers {
  /// The rate of WidgetKit pushes to a device.
  private(set) var widgetPushes: RateLedger
  private(set) var backgroundPushes: RateLedger
  /// The rate of pushes to one control.
  private(set) var controlPushes: RateLedger
  /// The rate of priority-10 pushes to one activity.
  private(set) var activityPushes: RateLedger
  /// The same where the person allows frequent updates.
  private(set) var frequentActivityPushes: RateLedger
  /// The rate of activities started by push on a device.
  private(set) var activityStarts: RateLedger

  /// The charges of the last 24 h, oldest first, of instances whose kind counts a rolling window. Looked up, never
  /// iterated.
  var rollingCharges: [InstanceSlot: [Timestamp]] = [:]

  var apps = SlotPool<AppTag, AppState>()
  var appByID: [String: AppSlot] = [:]
  /// The number of apps ever made.
  var appsMade: UInt64 = 0

  init(_ profile: BudgetProfile) {
    widgetPushes = RateLedger(profile.devicePushes)
    backgroundPushes = RateLedger(profile.backgroundPushes)
    controlPushes = RateLedger(profile.controlPushes)
    activityPushes = RateLedger(profile.activityPushes)
    frequentActivityPushes = RateLedger(profile.frequentActivityPushes)
    activityStarts = RateLedger(profile.activityStarts)
  }

  /// Takes over the limits of another profile; what was spent stays spent.
  mutating func use(_ profile: BudgetProfile) {
    let next = Ledgers(profile)
    (widgetPushes, backgroundPushes, controlPushes) = (next.widgetPushes, next.backgroundPushes, next.controlPushes)
    (activityPushes, frequentActivityPushes) = (next.activityPushes, next.frequentActivityPushes)
    activityStarts = next.activityStarts
  }

  /// Returns the rate that a push draws on.
  @inline(__always)
  func rate(_ rate: ChargedRate) -> RateLedger {
    switch rate {
    case .widgetPushes: widgetPushes
    case .backgroundPushes: backgroundPushes
    case .controlPushes: controlPushes
    }
  }

  /// Returns the rate of priority-10 pushes to an activity.
  func activityRate(frequentPushes: Bool) -> RateLedger { frequentPushes ? frequentActivityPushes : activityPushes }

  /// Restores the charges of an instance with a rolling window.
  mutating func restore(_ charges: [Timestamp], of instance: InstanceSlot) { rollingCharges[instance] = charges }

  /// The charge that leaves a rolling window last; nil where there is none.
  func lastCharge(of instance: InstanceSlot) -> Timestamp? { rollingCharges[instance]?.last }

  /// Forgets an instance that is gone.
  mutating func remove(_ instance: InstanceSlot) {
    if !rollingCharges.isEmpty { rollingCharges[instance] = nil }
  }

  /// Checks what holds between any two records.
  /// - Parameter isUsed: Whether an instance exists.
  func checkInvariants(isUsed: (InstanceSlot) -> Bool) {
    apps.checkInvariants()
    for (id, slot) in appByID { precondition(apps[slot].id == id, "an app is found under another id") }
    for slot in apps.slots where apps[slot].number != 0 {
      precondition(apps[slot].devices >= 0 && apps[slot].spent >= 0, "an app counts below zero")
      precondition(appByID[apps[slot].id] == slot, "an app is not found by its id")
    }
    for (instance, charges) in rollingCharges {
      precondition(isUsed(instance), "charges of an instance that is gone")
      precondition(zip(charges, charges.dropFirst()).allSatisfy { $0 <= $1 }, "charges out of order")
    }
  }
}
