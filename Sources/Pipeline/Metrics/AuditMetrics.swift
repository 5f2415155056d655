import Observing

/// The metrics of the audit feed.
struct AuditMetrics {
  let gaveUp, stored, retries, unreadable, setAside, lostRecords, position, lagRecords, lagSeconds: MetricFamily
  static let (decision, command) = ("decision", "command")

  /// Adds the metrics to a registry.
  init(_ registry: MetricRegistry) {
    let labels = [MetricLabel("topic", upTo: 2, "`decisions` or `commands`"), MetricLabel.partition]
    gaveUp = registry.gauge(
      "rouse_audit_gave_up",
      help: "Whether the audit of the process has given up while its other roles go on: 1 if it has, else 0",
      advice:
        "1: the store cannot be used. `/readyz` and the log line `auditGaveUp` say why. The audit goes on by itself.")
    stored = registry.counter(
      "rouse_audit_stored_total", [MetricLabel("record", upTo: 2, "`decision` or `command`")],
      help: "Decisions and commands that the audit store took",
      advice: "Slower than rouse_decisions_total for long: the store's disk is too slow. See rouse_audit_lag_records.")
    retries = registry.counter(
      "rouse_audit_retries_total", help: "Writes that the audit store refused and that were repeated",
      advice: "Rising: the disk is full, or another process locks the store. The log has the store's error.")
    unreadable = registry.counter(
      "rouse_audit_unreadable_total", help: "Decisions and commands that the audit could not read and left out",
      advice: "No release writes such records: find out who else writes to the topics. The log names the place.")
    setAside = registry.counter(
      "rouse_audit_set_aside_total",
      help: "Records that the audit store refused for their content and that were left out",
      advice: "`rouse audit summary` lists them as holes.")
    lostRecords = registry.counter(
      "rouse_audit_lost_records_total",
      help: "Records, markers of transactions included, that retention removed before the audit had stored them",
      advice:
        "`rouse audit summary` lists them as holes. Raise retention.ms of the topic above the longest absence of the store."
    )
    position = registry.gauge(
      "rouse_audit_position", labels, help: "The offset of the next record that the audit stores",
      advice: "Standing still while rouse_audit_lag_records grows: the store refuses, or a record cannot be read.")
    lagRecords = registry.gauge(
      "rouse_audit_lag_records", labels, help: "Records of a topic that the audit has not stored yet",
      advice:
        "Growing: answers of `rouse audit` are old. What is older than the topic's retention is lost to the audit.")
    lagSeconds = registry.gauge(
      "rouse_audit_lag_seconds", labels,
      help:
        "Age of the newest record that the audit stored while there are more, or after a start of the oldest that waits; 0 when there are none",
      advice: "Compare it with the retention of the topics: the audit must catch up within it.")
  }
}
