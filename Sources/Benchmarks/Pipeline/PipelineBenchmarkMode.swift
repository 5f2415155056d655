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
  /// The complete pipeline without what is done for metrics and traces; counts by batch remain, because benchmarks read them.
  case unobserved
  /// The complete pipeline while its metrics are scraped and one of a hundred events is traced, in turns with another one.
  case observed

  /// The modes that `rouse bench pipeline` compares. The others are those of `rouse bench observing`.
  package static let compared: [PipelineBenchmarkMode] = [.transactional, .passthrough, .idempotent, .unlogged]

  /// The name of the mode in a report for people.
  package var words: String {
    switch self {
    case .transactional: "transactional"
    case .passthrough: "passthrough"
    case .idempotent: "idempotent only"
    case .unlogged: "no decision log"
    case .unobserved: "off"
    case .observed: "on"
    }
  }
}
