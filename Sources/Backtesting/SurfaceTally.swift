import Domain
import Planning

/// What one planner told one surface, counted from its decisions and commands.
struct SurfaceTally: Equatable, Sendable {
  var commands = 0
  /// Live Activities: by what they do, and by priority.
  var starts = 0
  var updates = 0
  var ends = 0
  var priority10 = 0
  var priority5 = 0
  /// Instances that a push reloaded at a price, and those among them that had nothing new to show.
  var reloads = 0
  var reloadsWasted = 0
  /// Changes that were told, by a push of their own or with another's.
  var told = 0
  /// Visible changes that no push told: they expired, or a limit or a missing token stood in the way.
  var neverTold = 0

  /// Counts a final decision.
  mutating func count(_ decision: PlannedDecision) {
    switch decision.verdict {
    case .emit, .coalesce: told += 1
    case .defer: break
    case .suppress:
      switch decision.reason {
      // Nothing to tell, or told by something else.
      case .duplicate, .staleEvent, .noMatch, .cosmetic, .notVisible, .appForeground, .reloadImminent, .superseded,
        .freshened, .alreadyStarted, .activityEnded:
        break
      default: neverTold += 1
      }
    }
  }

  mutating func count(_ command: Command, event: String?) {
    commands += 1
    let isActivity = command.surface == .liveActivity || command.surface == .broadcast
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
