import Logging
import Pipeline

extension Setting {
  private static let pipeline = PlannerSettings()
  private static let intake = IntakeSettings()

  /// Every setting, in the order of ``SettingKey``.
  static let all: [Setting] = [
    Setting(
      .bootstrapServers, .text, .text("localhost:9092"), option: "--bootstrap", "Brokers to ask first, host:port."),
    Setting(
      .kafkaProperties, .properties, .properties([]),
      "Properties of librdkafka for every client, such as security.protocol=SASL_SSL; a mapping in the file."),
    Setting(.topicsPrefix, .text, .text(TopicNames().prefix), "Prefix of the names of Rouse's own topics."),
    Setting(.topicsEvents, .texts, .texts(["events"]), "Topics with domain events."),
    Setting(
      .topicsPartitions, .number(1...10_000, unit: "partitions"), .number(12),
      "Partitions of Rouse's topics when they are made; the most planner threads that can share the work."),
    Setting(
      .topicsReplicas, .number(1...100, unit: "replicas"), without: "the broker's default",
      "Replicas when they are made; without it, the broker's default."),
    Setting(.group, .text, .text("rouse"), "Prefix of consumer groups and transactional ids."),
    Setting(
      .instance, .text, without: "the host name",
      "Name of this process, unique and stable over restarts; without it, the host name."),
    Setting(
      .membership, .choice(Membership.allCases.map(\.rawValue)), .text(Membership.static.rawValue),
      "With static, a process that is killed and back within session.timeout.ms goes on with its partitions at once."),
    Setting(
      .roles, .choices(Role.allCases.map(\.rawValue)), .texts(Role.allCases.map(\.rawValue)),
      "Roles of this process."),
    Setting(
      .timestamps, .choice(PipelineSettings.Timestamps.allCases.map(\.rawValue)),
      .text(PipelineSettings.Timestamps.arrival.rawValue),
      "Source of log time: arrival, or event to replay the past."
    ),
    Setting(
      .policy, .text, without: "the log must hold a policy already, or every event is NO_MATCH",
      "Policy file that a new, empty log starts with."),
    Setting(
      .intakeThreads, .number(1...64, unit: "threads"), .number(1),
      "Intake threads; they share the partitions of the public topics."),
    Setting(
      .duplicateWindow, .number(1...50_000_000, unit: "event ids"), .number(intake.duplicateWindow),
      "Event ids that each intake thread remembers to drop repeats."),
    Setting(
      .plannerLagMax, .number(0...Int(Int32.max), unit: "log records"), .number(Int(intake.plannerLagMax)),
      "Intake pauses while a planner is further behind than this many log records; 0: never."),
    Setting(
      .plannerWorkers, .number(1...1024, unit: "threads"), without: "one per core",
      "Planner threads; without it, one per core."),
    Setting(
      .commitInterval, .number(1...60_000, unit: "milliseconds"), .number(milliseconds(pipeline.commitInterval)),
      "Longest time between two commits."),
    Setting(
      .transactionTimeout, .number(1000...900_000, unit: "milliseconds"),
      .number(milliseconds(pipeline.transactionTimeout)),
      "Time after which the broker aborts the transaction of a lost planner; a take-over may wait this long."),
    Setting(
      .snapshotFolder, .text, without: "no snapshots are kept",
      "Folder of local snapshots, for quick restarts on the same machine; without it, none are kept."),
    Setting(
      .snapshotInterval, .number(1...86_400, unit: "seconds"), .number(milliseconds(pipeline.snapshotInterval) / 1000),
      "Time between two snapshots of a partition; one more is written at an orderly end."),
    Setting(.auditStore, .text, .text("rouse-audit.sqlite"), "The audit store, a SQLite file."),
    Setting(.auditRetention, .number(1...36_500, unit: "days"), .number(30), "Age at which decisions are removed."),
    Setting(
      .auditStoreSize, .number(1...10_000_000, unit: "MiB"), .number(20_000),
      "Largest size of the store; the oldest decisions make room."),
    Setting(
      .logLevel, .choice(Logger.Level.allCases.map(\.rawValue)), .text(Logger.Level.info.rawValue),
      "Least level that is logged: \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))."),
  ]

  private static func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
}

/// The ways in which planner threads belong to their consumer group.
enum Membership: String, CaseIterable {
  case dynamic, `static`
}
