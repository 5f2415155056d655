import Observing

/// The metrics of transactions and of the time that events take.
struct CommitMetrics {
  let transactions, duration, eventToDecision, eventToCommit: MetricFamily
  static let (committed, aborted) = ("committed", "aborted")

  /// The upper ends of the buckets of durations inside of the pipeline, in seconds.
  static let durations: [Double] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120]
  /// The upper ends of the buckets of the age of events, in seconds: up to a day.
  static let ages: [Double] = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 86_400]

  /// Adds the metrics to a registry.
  init(_ registry: MetricRegistry) {
    let outcome = MetricLabel("outcome", upTo: 2, "`committed` or `aborted`")
    transactions = registry.counter(
      "rouse_transactions_total", [outcome], help: "Transactions of planner threads",
      advice:
        "Aborted ones restore their partitions, and their records are decided again. Repeated ones: the log says the error."
    )
    duration = registry.histogram(
      "rouse_transaction_duration_seconds", Self.durations, [outcome],
      help: "Time from the begin of a commit or abort, when records are still being written, to the broker's answer",
      advice: "Slow commits: the brokers' disks or network. Nothing is planned by that thread meanwhile.")
    eventToDecision = registry.histogram(
      "rouse_event_to_decision_seconds", Self.ages,
      help:
        "Age of events, by their own time, when they were decided; each event counts once in each partition",
      advice: "Old at the decision: publishers are late, or there is lag. Meaningless while the past is replayed.")
    eventToCommit = registry.histogram(
      "rouse_event_to_commit_seconds", Self.ages,
      help:
        "Age of events, by their own time, when their commands became visible; each event counts once in each partition",
      advice: "Above rouse_event_to_decision_seconds by more than a commit interval: commits are slow.")
    for outcome in [Self.committed, Self.aborted] { transactions.add(0, [outcome]) }
  }
}
