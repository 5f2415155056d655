import Observing

/// The metrics of log partitions and their state. Those of a partition are shown by the process that owns it.
struct PartitionMetrics {
  let state, lagRecords, lagSeconds, devices, policy, lastCommit: MetricFamily
  let restoreDuration, restoredRecords, snapshotsWritten, snapshotsDiscarded: MetricFamily
  let stateBytes, lastRestore, lastSnapshot, lastSnapshotSeconds: MetricFamily
  let stopped, skipsTaken, unreadableBatches: MetricFamily
  static let (fromSnapshot, fromTopic) = ("snapshot", "topic")
  static let (liveBytes, allBytes) = ("live", "all")

  /// Adds the metrics to a registry.
  init(_ registry: MetricRegistry) {
    state = registry.gauge(
      "rouse_partition_state",
      [.partition, MetricLabel("state", upTo: 4, "`waiting`, `restoring`, `planning` or `stopped`")],
      help: "The state of each log partition that this process owns, as a series with the value 1",
      advice:
        "`waiting` or `restoring` for minutes, or `stopped`: the log says why. The page about guarantees explains the states."
    )
    lagRecords = registry.gauge(
      "rouse_lag_records", [.partition], help: "Records of the log that are fetched or announced and not planned yet",
      advice: "Growing on all partitions: add planners. On one: its keys are hot, or it restores.")
    lagSeconds = registry.gauge(
      "rouse_lag_seconds", [.partition],
      help:
        "Age of the newest planned record of the log while there are more, or after a restore of its log time; 0 when there are none",
      advice: "Devices learn of events this much later. See rouse_lag_records. Meaningless while the past is replayed.")
    devices = registry.gauge(
      "rouse_planner_devices", [.partition], help: "Devices that the planner of a partition knows",
      advice: "Memory follows it. Far apart between partitions: device ids are not keys of their records.")
    policy = registry.info(
      "rouse_policy_info",
      [
        .partition, MetricLabel("version", upTo: 2, "the version of the policy"),
        MetricLabel("hash", upTo: 2, "the hash of its content"),
        MetricLabel("refused", upTo: 2, "`true` if a newer policy of the log was refused"),
      ], help: "The policy in force on each partition that this process plans",
      advice:
        "Several hashes for more than a minute: a partition lags. `refused`: the log says what is wrong with the policy."
    )
    lastCommit = registry.gauge(
      "rouse_last_commit_timestamp_seconds", [MetricLabel("worker", upTo: 1024, "the number of the planner thread")],
      help: "Time of the last commit of a planner thread, in seconds since 1970",
      advice: "Old while rouse_lag_records grows: the thread cannot commit. The log says why.")
    let source = MetricLabel("source", upTo: 2, "`snapshot` for local snapshots, `topic` for rouse.state")
    restoreDuration = registry.histogram(
      "rouse_restore_duration_seconds", CommitMetrics.durations, [source],
      help: "Time from the end of the wait for earlier owners until a partition is planned; `snapshot` if one was used",
      advice: "Long: set `planner.snapshotFolder`, or use more partitions.")
    restoredRecords = registry.counter(
      "rouse_restored_records_total", [source], help: "Records of state that restores have read",
      advice: "Many from the topic on each restart: snapshots are off, or are not on the same machine.")
    snapshotsWritten = registry.counter(
      "rouse_snapshots_written_total", help: "Local snapshots that were written and put in place",
      advice: "None with `planner.snapshotFolder`: the log says why a snapshot failed.")
    snapshotsDiscarded = registry.counter(
      "rouse_snapshots_discarded_total", help: "Local snapshots that were not used for a restore",
      advice: "The state is read from the topic instead. The log says the reason.")
    stateBytes = registry.gauge(
      "rouse_state_bytes",
      [.partition, MetricLabel("part", upTo: 2, "`all` for the chunks in rouse.state, `live` for what lives in them")],
      help: "Size of the state of each log partition, before compression",
      advice:
        "`all` stays below 2.5 times `live` and some MiB; more means that chunks are not removed. The disk of rouse.state far above `all`: its cleaner is behind."
    )
    lastRestore = registry.gauge(
      "rouse_last_restore_seconds", [.partition],
      help: "Time that the restore took with which this process got a log partition",
      advice: "Long: set `planner.snapshotFolder`, or use more partitions. See rouse_restore_duration_seconds.")
    lastSnapshot = registry.gauge(
      "rouse_last_snapshot_timestamp_seconds", [.partition],
      help:
        "Time at which the newest local snapshot of a log partition was begun, in seconds since 1970. Without a series: none is kept, or none is written yet",
      advice:
        "Older than twice `planner.snapshotIntervalSeconds`: the log says why snapshots fail. One older than 12 h is not used for a restore."
    )
    lastSnapshotSeconds = registry.gauge(
      "rouse_last_snapshot_seconds", [.partition],
      help: "Time that the newest local snapshot took that this process wrote, with the planning meanwhile",
      advice: "Near `planner.snapshotIntervalSeconds`: the disk is slow, or the partition is large.")
    stopped = registry.counter(
      "rouse_partitions_stopped_total", help: "Stops of a partition before a record that cannot be read",
      advice: "The partition stays unplanned. Upgrade if a newer release wrote the record, else use `rouse skip`.")
    skipsTaken = registry.counter(
      "rouse_skips_taken_total", help: "Records or batches that were passed over, as an operator ordered",
      advice: "Each follows a `rouse skip`.")
    unreadableBatches = registry.counter(
      "rouse_unreadable_batches_total", help: "Batches of records that the Kafka client could not unpack",
      advice: "The partition stays before it. Look for a damaged disk of a broker, then use `rouse skip`.")
  }
}
