import Installation
import Observing

/// The metrics of the stages of a process.
struct StageMetrics {
  let build, threads, threadsConfigured, turnAge, restarts: MetricFamily

  /// Adds the metrics to a registry.
  init(_ registry: MetricRegistry) {
    let role = MetricLabel("role", upTo: Role.allCases.count, "`intake`, `planner`, `audit`, `gateway` or `console`")
    build = registry.info(
      "rouse_build_info", [MetricLabel("version", upTo: 1, "the version of the program")],
      help: "The program that runs",
      advice: "Several versions at a time are usual during an upgrade, and at no other time.")
    threads = registry.gauge(
      "rouse_threads", [role], help: "Threads of a role that run",
      advice: "Fewer than rouse_threads_configured: a thread cannot connect or starts again. The log says why.")
    threadsConfigured = registry.gauge(
      "rouse_threads_configured", [role], help: "Threads of a role that the process is to have",
      advice: "Other than expected: look at the settings `roles`, `planner.workers` and `intake.threads`.")
    turnAge = registry.gauge(
      "rouse_turn_age_seconds", [role, MetricLabel("thread", upTo: 1024, "the number of the thread in its role")],
      help: "Time since a thread that runs last began a piece of work",
      advice: "Above a few seconds: a planner waits for the brokers to take a commit, or the audit for its disk.")
    restarts = registry.counter(
      "rouse_restarts_total", help: "Stages that were started again after an error",
      advice: "Read the error in the log line `stageRestarts`. A few while the brokers are away are usual.")
  }
}
