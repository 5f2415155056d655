import Domain
import Observing

/// The labels that several metrics have. Kinds and versions are what policies and registrations say; all other values come from
/// the program.
extension MetricLabel {
  static let kind = MetricLabel("kind", upTo: 100, "the kind, as policies and registrations name it")
  static let partition = MetricLabel("partition", upTo: 512, "the number of the log partition")
  static let reason = MetricLabel("reason", upTo: Reason.allCases.count, "the reason code")
  static let verdict = MetricLabel("verdict", upTo: Verdict.allCases.count, "`emit`, `defer`, `coalesce` or `suppress`")
}
