/// The rounds of a pipeline benchmark and the figures derived from them.
package struct PipelineResult: Sendable {
  /// The rounds in the order in which they ran.
  package private(set) var rounds: [PipelineRound]

  /// Creates a result.
  /// - Parameter rounds: the rounds in the order in which they ran.
  package init(rounds: [PipelineRound] = []) { self.rounds = rounds }

  /// Adds rounds at the end.
  package mutating func append(_ more: [PipelineRound]) { rounds += more }

  /// The modes that ran, in the order of their declaration.
  package var modes: [PipelineBenchmarkMode] {
    PipelineBenchmarkMode.allCases.filter { mode in rounds.contains { $0.mode == mode } }
  }

  /// Returns the median of a figure over the rounds of a mode; nil when the mode did not run.
  package func median(_ mode: PipelineBenchmarkMode, _ figure: (PipelineRound) -> Double) -> Double? {
    rounds.filter { $0.mode == mode }.map(figure).median
  }

  /// Returns the median over the rounds of one mode's figure divided by another mode's figure in the same round; nil when
  /// one of the modes did not run.
  ///
  /// Modes take turns, so both figures of a ratio come from the same minutes of the machine.
  package func ratio(
    _ mode: PipelineBenchmarkMode, to other: PipelineBenchmarkMode, _ figure: (PipelineRound) -> Double
  ) -> Double? {
    ratios(mode, to: other, figure).median
  }

  /// Returns one mode's figure divided by another mode's figure in the same round, for each round. A round
  /// in which the other figure is 0 has none.
  package func ratios(
    _ mode: PipelineBenchmarkMode, to other: PipelineBenchmarkMode, _ figure: (PipelineRound) -> Double
  ) -> [Double] {
    zip(rounds.filter { $0.mode == mode }, rounds.filter { $0.mode == other }).map { figure($0) / figure($1) }
      .filter(\.isFinite)
  }
}
