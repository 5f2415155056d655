import Observing
import Planning

/// The metrics of what screens show, which sweeps find out (see `ScreenSweep`).
struct ScreenMetrics {
  let instances, wrong, wrongAge, worthPending: MetricFamily
  let changesExpected, worthExpected, tokenPrices, tokensLeft: MetricFamily
  let objectiveShare, objectiveFreshWithin, objectiveLate: MetricFamily
  let zombies, sweepCompleted, sweepStride: MetricFamily

  /// Adds the metrics to a registry.
  init(_ registry: MetricRegistry) {
    instances = registry.gauge(
      "rouse_instances", [.kind],
      help: "Widgets and controls to which a push can be sent; the metrics of screens count these only",
      advice: "Far below what is registered: tokens are missing or dead, or the policy does not decide about the kind.")
    wrong = registry.gauge(
      "rouse_instances_wrong", [.kind], help: "Of rouse_instances those whose screen shows something wrong",
      advice: "A share that stays high: see rouse_token_prices_looks, and `rouse audit top --by reason`.")
    wrongAge = registry.histogram(
      "rouse_wrong_age_seconds", ScreenFigures.ageBounds, [.kind],
      help: "Time for which a wrong screen has been wrong at least; each sweep counts each wrong screen once",
      advice: "Long ages with tokens left: the price or a limit holds pushes back. With none left: raise `perDay`.")
    worthPending = registry.gauge(
      "rouse_worth_pending_looks", [.kind], help: "Sum of what a reload of each wrong screen would be worth now",
      advice: "Rising through the day: demand is above the budget. Compare it with rouse_token_prices_looks.")
    changesExpected = registry.gauge(
      "rouse_changes_expected", [.kind], help: "Sum of N over instances: visible changes expected until their day ends",
      advice: "Far above rouse_tokens_left: tokens are scarce. Round fields more coarsely, or raise `perDay`.")
    worthExpected = registry.gauge(
      "rouse_worth_expected_looks", [.kind],
      help: "Sum of A over instances: worth of the pushes expected until their day ends",
      advice: "The price follows it. A jump after a policy change is usual while the planner learns.")
    tokenPrices = registry.gauge(
      "rouse_token_prices_looks", [.kind],
      help: "Sum over instances of the price of one token now; divide by rouse_instances for the mean",
      advice: "0: tokens suffice for everything. High in the morning already: budgets burn too fast.")
    tokensLeft = registry.gauge(
      "rouse_tokens_left", [.kind], help: "Sum over instances of the tokens that are left today",
      advice: "Near 0 hours before the day ends: the rest of the day stays wrong. Let trifles weigh less.")
    objectiveShare = registry.gauge(
      "rouse_objective_share_ratio", [.kind], help: "The share of the objective of a kind, above 0 and below 1",
      advice: "It changes with the policy only. Kinds without an objective, or without instances, have none.")
    objectiveFreshWithin = registry.gauge(
      "rouse_objective_fresh_within_seconds", [.kind], help: "The time in which screens of a kind are to show changes",
      advice: "It changes with the policy only.")
    objectiveLate = registry.gauge(
      "rouse_objective_instances_late", [.kind],
      help: "Instances whose screen has been wrong by wrongAtLeast of the objective for longer than freshWithin",
      advice:
        "Their changes count as missed when they end, so rouse_objective_changes_total will follow. See rouse_token_prices_looks."
    )
    zombies = registry.gauge(
      "rouse_zombies", [.kind],
      help:
        "Live Activities that run and that pushes do not update or end: not registered half an hour after their start by push, with a token that APNs has refused, or whose newest push APNs has refused",
      advice:
        "Rising: the app does not register activities, or loses their tokens, or the sender's pushes are refused. `rouse audit zombies` lists those that were started by push and have no token."
    )
    sweepCompleted = registry.gauge(
      "rouse_sweep_completed_timestamp_seconds", [.partition],
      help: "Time of the end of the last complete sweep of a partition, in seconds since 1970",
      advice: "Old: the metrics of screens are as old. A large partition takes minutes, a thread that hangs for ever.")
    sweepStride = registry.gauge(
      "rouse_sweep_stride", [.partition], help: "Devices of which a sweep visits one; 1 if it visits all",
      advice: "Above 1 the metrics of screens are estimates, with an error of about 0.4 % of the instances.")
  }
}
