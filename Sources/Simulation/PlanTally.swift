import Domain
import Planning

/// Counts decisions by outcome and commands by surface while they are made.
struct PlanTally {
  private(set) var decisions = 0
  private var commands = 0
  private var surfaces: [Surface: Int] = [:]
  private var charged: [Command.Ledger: Int] = [:]
  private var outcomes: [PlanSummary.Outcome: Int] = [:]
  /// The outcome in a row, which costs less than a look-up for each decision.
  private var current: PlanSummary.Outcome?
  private var run = 0

  mutating func count(_ output: PlannerOutput) {
    decisions += output.decisions.count
    for planned in output.decisions {
      if let current, current.reason == planned.reason, current.verdict == planned.verdict {
        run += 1
      } else {
        settle()
        current = PlanSummary.Outcome(verdict: planned.verdict, reason: planned.reason)
        run = 1
      }
    }
    commands += output.commands.count
    for command in output.commands { surfaces[command.push.surface, default: 0] += 1 }
    for charge in output.charges { charged[charge.ledger, default: 0] += 1 }
  }

  private mutating func settle() {
    if let current { outcomes[current, default: 0] += run }
    run = 0
  }

  mutating func fill(_ summary: inout PlanSummary) {
    settle()
    current = nil
    summary.decisions = decisions
    summary.commands = commands
    summary.commandsBySurface = Surface.allCases.map { ($0, surfaces[$0] ?? 0) }
    summary.charged = Command.Ledger.allCases.map { charged[$0] ?? 0 }
    summary.outcomes = outcomes.map { (outcome: $0, count: $1) }.sorted {
      ($1.count, $0.outcome.reason.rawValue, $0.outcome.verdict.rawValue)
        < ($0.count, $1.outcome.reason.rawValue, $1.outcome.verdict.rawValue)
    }
  }
}
