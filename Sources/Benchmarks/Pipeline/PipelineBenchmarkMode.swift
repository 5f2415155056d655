/// The ways to run a round of the pipeline benchmark.
package enum PipelineBenchmarkMode: String, CaseIterable, Sendable {
  /// The complete pipeline, as `rouse run` runs it.
  case transactional
  /// A plain loop that copies the output of the transactional round, one small record for each decision, with as many transactions.
  case passthrough
  /// The pipeline without transactions: its producers are only idempotent.
  case idempotent
  /// The pipeline with transactions, but without decision records.
  case unlogged

  /// The name of the mode in a report for people.
  package var words: String {
    switch self {
    case .transactional: "transactional"
    case .passthrough: "passthrough"
    case .idempotent: "idempotent only"
    case .unlogged: "no decision log"
    }
  }
}
