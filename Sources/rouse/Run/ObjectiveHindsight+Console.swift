import Backtesting
import Console
import Domain
import JSON

extension ObjectiveHindsight: ObjectiveComparison {
  mutating func comparedObjectives() -> [(kind: Identifier, objective: ComparedObjective)] {
    results().map { kind, objective in
      (
        kind,
        ComparedObjective(
          freshWithin: objective.freshWithin, share: objective.share, wrongAtLeast: objective.wrongAtLeast,
          instances: objective.instances, changes: objective.changes, met: objective.met, possible: objective.possible)
      )
    }
  }

  mutating func encoding() -> (inout JSONWriter) -> Void {
    let results = results()
    return { Self.encode(results, to: &$0) }
  }
}
