import Domain
import Policies
import Replay

/// A recount of the ledgers from the commands alone, independent of the planner that sent them. Finds commands beyond a
/// budget.
///
/// Rates are recounted by GCRA, the generic cell rate algorithm (ITU-T I.371): with T = window / limit, a command at time t
/// is allowed if t ≥ TAT − (burst − 1) · T, and then TAT becomes max(t, TAT) + T. The daily limit of an app is recounted by UTC
/// day. `KindComparison` recounts the days of single instances.
struct LedgerRecount {
  /// The owner of one rate ledger.
  private struct Owner: Hashable {
    var ledger: Command.Ledger
    var device: Identifier
    var owner: Identifier
  }

  /// An activity, or the start of a subject, to which commands go.
  private struct ChargedActivity: Hashable {
    var device: Identifier
    var instance: Identifier
    var subject: Identifier?
  }

  /// A command that APNs may still refuse, which refunds its charges.
  private struct Last {
    var command: Identifier
    var owner: Owner?
    /// T of the charged rate, µs.
    var interval: Int64
    var app: Identifier
    var day: Int64
  }

  /// The number of commands beyond the budget, by ledger.
  private(set) var over: [Command.Ledger: Int] = [:]
  /// The ledgers that have a limit under the policy.
  let limited: [Command.Ledger]
  private let profile: BudgetProfile
  private let apps: [Identifier: Int]
  /// The theoretical arrival time (TAT) of each rate ledger, µs.
  private var arrivalTimes: [Owner: Int64] = [:]
  /// The last command to each device, unless it was to a Live Activity.
  private var lasts: [Identifier: Last] = [:]
  /// The newest command to each Live Activity and for each start, by its id.
  private var activityCommands: [Identifier: Last] = [:]
  private var newest: [ChargedActivity: Identifier] = [:]
  /// The tokens that each app has spent on its latest UTC day.
  private var appDays: [Identifier: (day: Int64, spent: Int)] = [:]
  /// The activities with frequent pushes, which have a different rate.
  private var frequent: Set<Owner> = []

  /// Prepares a recount with the limits of a policy.
  init(_ policy: Policy) {
    profile = policy.profile
    apps = Dictionary(policy.apps.map { ($0.app, $0.perDay) }) { first, _ in first }
    var limited: [Command.Ledger] = [.instance]
    for ledger in Command.Ledger.allCases {
      if let rate = profile.rates(of: ledger).first, rate.limit != nil { limited.append(ledger) }
    }
    if !policy.apps.isEmpty { limited.append(.app) }
    self.limited = limited
  }

  /// Notes the activities of a device that have frequent pushes.
  mutating func register(_ registration: Registration) {
    for activity in registration.activities where activity.frequentPushes {
      frequent.insert(Owner(ledger: .activity, device: registration.device, owner: activity.id))
    }
  }

  /// Recounts the charges of one command. Commands must come in the order of their times.
  mutating func count(_ command: Command) {
    var last = Last(
      command: command.command, interval: 0, app: command.app, day: command.at.microseconds / LocalDays.day)
    for charge in command.charged {
      if charge.ledger == .app { chargeApp(command) }
      guard var rate = profile.rates(of: charge.ledger).first else { continue }
      let owner = Owner(ledger: charge.ledger, device: command.device, owner: charge.owner)
      if frequent.contains(owner) { rate = profile.frequentActivityPushes }
      guard let limit = rate.limit else { continue }
      let interval = rate.window.microseconds / Int64(limit)
      let now = command.at.microseconds
      let arrival = arrivalTimes[owner] ?? .min
      if arrival != .min, now < arrival - Int64(rate.burst - 1) * interval { over[charge.ledger, default: 0] += 1 }
      arrivalTimes[owner] = max(now, arrival) + interval
      last.owner = owner
      last.interval = interval
    }
    guard command.surface.showsActivities else {
      lasts[command.device] = last
      return
    }
    let activity = ChargedActivity(
      device: command.device, instance: command.serves.first?.instance ?? "", subject: command.subject)
    if let before = newest.updateValue(command.command, forKey: activity) { activityCommands[before] = nil }
    activityCommands[command.command] = last
  }

  private mutating func chargeApp(_ command: Command) {
    let day = command.at.microseconds / LocalDays.day
    var state = appDays[command.app] ?? (day, 0)
    if state.day != day { state = (day, 0) }
    state.spent += 1
    if let limit = apps[command.app], state.spent > limit { over[.app, default: 0] += 1 }
    appDays[command.app] = state
  }

  /// Refunds a command that APNs refused, if it is the last command to its device, or the newest to its Live Activity.
  /// - Returns: Whether the command was refunded.
  mutating func refund(_ command: Identifier, device: Identifier) -> Bool {
    if let last = activityCommands.removeValue(forKey: command) {
      refund(last)
      return true
    }
    guard let last = lasts[device], last.command == command else { return false }
    lasts[device] = nil
    refund(last)
    return true
  }

  private mutating func refund(_ last: Last) {
    if let owner = last.owner { arrivalTimes[owner, default: .min] -= last.interval }
    if let state = appDays[last.app], state.day == last.day, state.spent > 0 { appDays[last.app]?.spent -= 1 }
  }
}
