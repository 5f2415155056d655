/// The ways to run a round of the pipeline benchmark.
package enum PipelineBenchmarkMode: String, CaseIterable, Sendable {
  /// Everything as in operation.
  case transactional
  /// A plain loop that copies the output of the transactional round record by record, in transactions as often.
  case passthrough
  /// Without transactions.
  case idempotent
  /// Without decision records.
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
