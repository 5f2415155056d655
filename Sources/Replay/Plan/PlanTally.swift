import Domain
import Planning
import Policies

/// Counts decisions by outcome, and commands by surface and ledger, during a run.
struct PlanTally {
  private(set) var decisions = 0
  private var commands = 0
  private var surfaces: [Surface: Int] = [:]
  private var charged: [Command.Ledger: Int] = [:]
  private var outcomes: [PlanSummary.Outcome: Int] = [:]
  private var payloads: [PayloadBand: Int] = [:]
  /// The first refused payload of each kind, with the number of all refused payloads of that kind.
  private var refused: [LargePayload] = []
  /// The common outcome of the latest decisions in a row. Counting the row and adding it at once costs less than a
  /// look-up for each decision.
  private var current: PlanSummary.Outcome?
  private var run = 0

  /// Adds the output of one step.
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
    if !output.payloads.isEmpty || !output.largePayloads.isEmpty { count(payloads: output) }
  }

  private mutating func count(payloads output: PlannerOutput) {
    for payload in output.payloads { payloads[payload.band, default: 0] += 1 }
    for large in output.largePayloads where large.band == .refused {
      payloads[.refused, default: 0] += large.count
      if let place = refused.firstIndex(where: { $0.kind == large.kind }) {
        refused[place].count += large.count
      } else if refused.count < PlanSummary.refusedPayloadsMax {
        refused.append(large)
      }
    }
  }

  /// Adds the latest decisions in a row, which have the same outcome, to the counts.
  private mutating func settle() {
    if let current { outcomes[current, default: 0] += run }
    run = 0
  }

  /// Writes the counts into a summary.
  mutating func fill(_ summary: inout PlanSummary) {
    settle()
    current = nil
    summary.decisions = decisions
    summary.commands = commands
    summary.commandsBySurface = Surface.allCases.map { ($0, surfaces[$0] ?? 0) }
    summary.payloads = PayloadBand.allCases.map { ($0, payloads[$0] ?? 0) }
    summary.refusedPayloads = refused
    summary.charged = Command.Ledger.allCases.map { charged[$0] ?? 0 }
    summary.outcomes = outcomes.map { (outcome: $0, count: $1) }.sorted {
      ($1.count, $0.outcome.reason.rawValue, $0.outcome.verdict.rawValue)
        < ($0.count, $1.outcome.reason.rawValue, $1.outcome.verdict.rawValue)
    }
  }
}
