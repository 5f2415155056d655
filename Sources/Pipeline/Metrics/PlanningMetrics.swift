import Domain
import Observing
import Planning

/// The metrics of planning: what was decided and sent. `decisions`, `commands` and `tokens` count what was committed; the
/// counts with `sent` in their names also count what was aborted and decided again.
package struct PlanningMetrics {
  let decisions, commands, tokens, tokensUnspent, pushToFetch, eventToFetch: MetricFamily
  let objectiveChanges, objectiveChangesInTime: MetricFamily
  let decisionsSent, commandsSent, stateRecordsSent, bytesSent: MetricFamily
  let records, recordsSkipped, recordsSetAside, recordsLost, registrations, registrationsOutdated: MetricFamily
  let instancesOfOtherKinds, refundsRefused, ticks: MetricFamily

  /// Adds the metrics to a registry.
  init(_ registry: MetricRegistry) {
    decisions = registry.counter(
      "rouse_decisions_total", [.kind, .verdict, .reason], help: "Committed decisions",
      advice:
        "The page about asking why says what to do about each. Many `BUDGET_…` or `BELOW_PRICE`: demand is above the budget."
    )
    commands = registry.counter(
      "rouse_commands_total",
      [
        MetricLabel(
          "surface", upTo: Surface.allCases.count, "the surface of the push; `liveActivity` for channels, too")
      ],
      help: "Committed commands",
      advice: "None while decisions are made: `rouse audit top --by reason` says what holds them back.")
    tokens = registry.counter(
      "rouse_tokens_charged_total",
      [
        MetricLabel("ledger", upTo: Command.Ledger.allCases.count, "the ledger, as in `charged` of commands"),
        MetricLabel("kind", upTo: 100, "the kind; empty for ledgers that a device or an app owns"),
      ], help: "Tokens that committed commands were charged",
      advice: "A jump after a policy change: compare the policies with `rouse simulate`.")
    tokensUnspent = registry.counter(
      "rouse_tokens_unspent_total", [.kind],
      help: "Tokens that instances with events had left when their budget day ended, counted with their next event",
      advice:
        "Many while rouse_instances_wrong is high: other limits hold pushes back; `rouse audit top --by reason` says which."
    )
    pushToFetch = registry.histogram(
      "rouse_push_to_fetch_seconds", OutcomeCounts.fetchBounds, [.kind],
      help: "Time from a decision to push until the widget fetched, if it sent a rouse.signal.widget.fetched",
      advice:
        "Long: the sender is slow, or the platform holds pushes back. Far fewer than commands: pushes are dropped."
    )
    eventToFetch = registry.histogram(
      "rouse_event_to_fetch_seconds", OutcomeCounts.fetchBounds, [.kind],
      help:
        "Age of an event, by its own time, when the widget fetched to which it was pushed; the oldest if a push shows several",
      advice:
        "Above rouse_push_to_fetch_seconds by what events wait for budgets. Meaningless while the past is replayed."
    )
    objectiveChanges = registry.counter(
      "rouse_objective_changes_total", [.kind],
      help: "Changes of kinds with an objective that reached its wrongAtLeast and were decided finally",
      advice: "None although events come: their relevance is below `wrongAtLeast`, or all of them still wait.")
    objectiveChangesInTime = registry.counter(
      "rouse_objective_changes_in_time_total", [.kind],
      help: "Of rouse_objective_changes_total those that the screen showed, or that were undone, within freshWithin",
      advice:
        "A burn rate is (1 − in time / changes) / (1 − rouse_objective_share_ratio). Above 1 the error budget does not last."
    )
    decisionsSent = registry.counter(
      "rouse_decisions_sent_total", help: "Decisions that were written into transactions, aborted ones included",
      advice: "Far above rouse_decisions_total: transactions are aborted. See rouse_transactions_total.")
    commandsSent = registry.counter(
      "rouse_commands_sent_total", help: "Commands that were written into transactions, aborted ones included",
      advice: "Far above rouse_commands_total: transactions are aborted. See rouse_transactions_total.")
    stateRecordsSent = registry.counter(
      "rouse_state_records_sent_total", help: "Records of state that were written into transactions",
      advice: "More than one for each ten decisions is unusual: commits may be too frequent.")
    bytesSent = registry.counter(
      "rouse_state_and_commands_sent_bytes_total",
      help: "Bytes of state, commands and their keys that were written into transactions",
      advice: "Compare its rate with what the brokers' network and disks can take.")
    records = registry.counter(
      "rouse_log_records_planned_total", help: "Log records that planners handled, but for claims to tokens",
      advice: "Standing still while rouse_lag_records grows: look at rouse_partition_state.")
    recordsSkipped = registry.counter(
      "rouse_log_records_skipped_total", help: "Log records that were planned before and were passed over",
      advice: "Some are usual after a restart of intake or an aborted transaction.")
    recordsSetAside = registry.counter(
      "rouse_log_records_set_aside_total",
      help: "Log records that were not planned, because the broker refused what follows from them",
      advice: "Each is a dead letter. Compare max.message.bytes of the topics with `rouse topics check`.")
    recordsLost = registry.counter(
      "rouse_log_records_lost_total", help: "Log records that retention, or a person, removed before they were planned",
      advice: "They have no effect. Raise retention.ms of rouse.log above the longest absence of the planners.")
    registrations = registry.counter(
      "rouse_registrations_planned_total", help: "Registrations that planners applied",
      advice: "Behind rouse_registrations_accepted_total for long: see rouse_lag_seconds.")
    registrationsOutdated = registry.counter(
      "rouse_registrations_outdated_total",
      help: "Registrations that planners passed over, because they knew one with a later updatedAt",
      advice: "Many: a backend sends old registrations again, or the clocks of its processes differ.")
    instancesOfOtherKinds = registry.counter(
      "rouse_instances_of_other_kinds_total",
      help:
        "Registered instances whose kind no policy names and is beyond the number of kinds that planners tell apart",
      advice: "Decisions name their kind `(other kinds)`. A backend registers made-up kinds, such as ids: correct it.")
    refundsRefused = registry.counter(
      "rouse_refunds_refused_total",
      help: "Failed commands that count as delivered, because the device or its app had too many refunds before",
      advice:
        "Many: APNs refuses pushes for a common reason, such as a wrong topic; or somebody reports failures that did not happen."
    )
    ticks = registry.counter(
      "rouse_ticks_appended_total", help: "Ticks that planners appended to an idle log, so that timers fire",
      advice: "None on an idle log with waiting events: the planner may not write to the log.")
  }
}
