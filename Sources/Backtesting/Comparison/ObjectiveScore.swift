import Domain
import Policies
import Replay

/// The changes that count for the objective of a kind under one policy, against the best schedule of reloads in hindsight.
struct ObjectiveScore: Sendable {
  let objective: FreshnessObjective
  private var instances = 0
  private var instancesBound = 0
  private var instancesBeyond = 0
  private var changes = 0
  private var met = 0
  private var possible = 0

  /// Prepares a score.
  init(_ objective: FreshnessObjective) { self.objective = objective }

  /// Adds the changes of one instance.
  /// - Parameters:
  ///   - changes: The changes.
  ///   - budget: The budget of the kind.
  ///   - zone: The time zone of the device.
  mutating func add(_ changes: [CountedChange], budget: InstanceBudget, zone: String) {
    if changes.isEmpty { return }
    let optimum = ObjectiveOptimum(
      changes, perDay: budget.perDay, minInterval: budget.minInterval.microseconds,
      days: LocalDays(zone: zone, anchorMinute: budget.anchorMinute))
    let shown = changes.count { $0.isMet }
    instances += 1
    if optimum.isBound { instancesBound += 1 }
    if shown > optimum.shown { instancesBeyond += 1 }
    self.changes += changes.count
    met += shown
    // The policy's own schedule was possible, also if refused pushes were refunded and their tokens spent again.
    possible += max(shown, optimum.shown)
  }

  /// The result for the report.
  var result: BacktestReport.Objective {
    BacktestReport.Objective(
      freshWithin: objective.freshWithin, share: objective.share, wrongAtLeast: objective.wrongAtLeast,
      instances: instances, instancesBound: instancesBound, instancesBeyond: instancesBeyond, changes: changes,
      met: met,
      possible: possible)
  }
}
