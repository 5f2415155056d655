import Domain
import Planning

/// The decisions and commands of one planner for one surface, counted.
struct SurfaceTally: Equatable, Sendable {
  /// The number of commands.
  var commands = 0
  /// The number of commands that start a Live Activity.
  var starts = 0
  /// The number of commands that update a Live Activity.
  var updates = 0
  /// The number of commands that end a Live Activity.
  var ends = 0
  /// The number of Live Activity commands with priority 10, which are charged.
  var priority10 = 0
  /// The number of Live Activity commands with priority 5, which are free.
  var priority5 = 0
  /// The number of reloads of instances that were charged to them. A push that reloads several instances counts once
  /// for each.
  var reloads = 0
  /// The number of those reloads that showed nothing new.
  var reloadsWasted = 0
  /// The number of changes that a push delivered, whether it was sent for them or for another change.
  var told = 0
  /// The number of visible changes that no push delivered: they expired, or a limit or a missing token prevented it.
  var neverTold = 0

  /// Counts a final decision.
  mutating func count(_ decision: PlannedDecision) {
    switch decision.verdict {
    case .emit, .coalesce: told += 1
    case .defer: break
    case .suppress:
      if decision.reason.outcome != .needless { neverTold += 1 }
    }
  }

  /// Counts a command.
  /// - Parameter event: `start`, `update` or `end` for a Live Activity; nil for other surfaces.
  mutating func count(_ command: Command, event: String?) {
    commands += 1
    let isActivity = command.surface.showsActivities
    if isActivity {
      switch event {
      case "start": starts += 1
      case "end": ends += 1
      default: updates += 1
      }
      if command.apns.headers.contains(where: { $0.name == "apns-priority" && $0.value == "10" }) {
        priority10 += 1
      } else {
        priority5 += 1
      }
    } else {
      let charged = command.charged.reduce(0) { $0 + ($1.ledger == .instance ? 1 : 0) }
      reloads += charged
      reloadsWasted += max(0, charged - command.serves.count)
    }
  }
}
