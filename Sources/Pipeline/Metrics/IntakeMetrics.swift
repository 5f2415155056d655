import Domain
import Observing

/// The metrics of intake. This is the one place that describes them, and so it is for the groups beside it.
struct IntakeMetrics {
  let eventsAccepted, registrationsAccepted, signalsAccepted, duplicatesDropped: MetricFamily
  let deadLetters, deadLettersRefused, pauses, lagRecords, lagSeconds: MetricFamily

  /// Adds the metrics to a registry.
  init(_ registry: MetricRegistry) {
    eventsAccepted = registry.counter(
      "rouse_events_accepted_total", help: "Domain events that intake accepted, repeats left out",
      advice: "None where some are expected: look at the publisher, and at the topics in `topics.events`.")
    registrationsAccepted = registry.counter(
      "rouse_registrations_accepted_total", help: "Registrations and removals of devices that intake accepted",
      advice: "A jump is a backend that registers everything anew. It costs capacity and no budget.")
    signalsAccepted = registry.counter(
      "rouse_signals_accepted_total", help: "Signals of devices that intake accepted",
      advice: "None: prices know no looks, and rejected tokens stay in use. Look at the gateway.")
    duplicatesDropped = registry.counter(
      "rouse_duplicates_dropped_total",
      [MetricLabel("record", upTo: 2, "`event` or `signal`")],
      help: "Domain events and signals that intake dropped as repeats by their ids",
      advice: "A rate near that of accepted ones: a sender sends everything twice, or uses an id again.")
    deadLetters = registry.counter(
      "rouse_dead_letters_total",
      [
        MetricLabel(
          "record", upTo: DeadLetter.RecordSort.allCases.count,
          "`event`, `registration` or `signal` for a record of a public topic, `log` for one that a planner did not accept"
        ),
        MetricLabel("reason", upTo: 64, "the code of the reason, as in the header of the letter"),
      ],
      help: "Records that intake or a planner did not accept, and that became dead letters",
      advice:
        "`rouse dead-letters list` shows them. Have the publisher mend them, then use `rouse dead-letters replay`.")
    deadLettersRefused = registry.counter(
      "rouse_dead_letters_refused_total",
      help: "Dead letters that the broker refused, so that only the topic of the original record has it",
      advice: "Compare max.message.bytes of the topics with `rouse topics check`.")
    pauses = registry.counter(
      "rouse_intake_pauses_total", help: "Pauses of intake because planners or the log were behind",
      advice: "Rising: planners are too slow for the traffic. Look at rouse_lag_seconds, and add planners.")
    // A series that begins at 1 would show no increase for the first letter.
    for reason in DeadLetter.publicReasons {
      for sort in DeadLetter.RecordSort.allCases where sort != .log { deadLetters.add(0, [sort.rawValue, reason]) }
    }
    for reason in DeadLetter.logReasons { deadLetters.add(0, [DeadLetter.RecordSort.log.rawValue, reason]) }
    for sort in [DeadLetter.RecordSort.event, .signal] { duplicatesDropped.add(0, [sort.rawValue]) }
    let labels = [
      MetricLabel("topic", upTo: 100, "the public topic"),
      MetricLabel("partition", upTo: 512, "the number of the partition of the topic"),
    ]
    lagRecords = registry.gauge(
      "rouse_intake_lag_records", labels,
      help: "Records of a public topic that intake has not read, of the partitions that this process has begun to read",
      advice: "Growing: raise `intake.threads`, or see rouse_intake_pauses_total.")
    lagSeconds = registry.gauge(
      "rouse_intake_lag_seconds", labels,
      help: "Age of the newest record that intake has read while there are more; 0 when there are none",
      advice: "Compare it with the retention of the topic: what is older is lost. See rouse_intake_lag_records.")
  }
}
