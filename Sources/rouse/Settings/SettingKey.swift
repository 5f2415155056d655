import Configuration

/// One setting of the long-running roles. The same key stands in the file (`kafka.bootstrapServers` as nested YAML), in
/// the environment (`ROUSE_KAFKA_BOOTSTRAP_SERVERS`) and after `--set`.
struct SettingKey {
  let name: String
  let type: ConfigType
  /// As it would stand in the file; nil: no value.
  let fallback: String?
  let help: String

  var components: [String] { name.split(separator: ".").map(String.init) }

  /// As swift-configuration spells it: `ROUSE_KAFKA_BOOTSTRAP_SERVERS`.
  var environmentName: String {
    var text = "ROUSE"
    for component in components {
      text += "_"
      for character in component {
        if character.isUppercase { text += "_" }
        text += character.uppercased()
      }
    }
    return text
  }

  static let all: [SettingKey] = [
    SettingKey(
      name: "kafka.bootstrapServers", type: .string, fallback: "localhost:9092",
      help: "Brokers to ask first, host:port."),
    SettingKey(
      name: "kafka.properties", type: .stringArray, fallback: "",
      help: "Any librdkafka property, name=value each: security.protocol=SASL_SSL, …"),
    SettingKey(
      name: "topics.prefix", type: .string, fallback: "rouse.", help: "Begins the names of Rouse's own topics."),
    SettingKey(name: "topics.events", type: .stringArray, fallback: "events", help: "Topics with domain events."),
    SettingKey(
      name: "topics.partitions", type: .int, fallback: "12",
      help: "Partitions of Rouse's topics when they are made; the most planner threads that can share the work."),
    SettingKey(
      name: "topics.replicas", type: .int, fallback: nil,
      help: "Replicas when they are made; without it, the broker's default."),
    SettingKey(
      name: "group", type: .string, fallback: "rouse", help: "Prefix of consumer groups and transactional ids."),
    SettingKey(
      name: "instance", type: .string, fallback: nil,
      help: "Names this process among others, stable over restarts; without it, the host name."),
    SettingKey(
      name: "roles", type: .stringArray, fallback: "intake,planner,audit", help: "What this process does."),
    SettingKey(
      name: "timestamps", type: .string, fallback: "arrival",
      help: "What log time is: arrival, or event to replay the past."),
    SettingKey(
      name: "policy", type: .string, fallback: nil, help: "Policy file that a new, empty log starts with."),
    SettingKey(
      name: "intake.duplicateWindow", type: .int, fallback: "500000", help: "Event ids remembered to drop repeats."),
    SettingKey(
      name: "intake.plannerLagMax", type: .int, fallback: "1000000",
      help: "Intake pauses while a planner is further behind than this many log records; 0: never."),
    SettingKey(name: "planner.workers", type: .int, fallback: nil, help: "Planner threads; without it, one per core."),
    SettingKey(
      name: "planner.commitIntervalMilliseconds", type: .int, fallback: "100", help: "Longest time between two commits."
    ),
    SettingKey(
      name: "planner.transactionTimeoutMilliseconds", type: .int, fallback: "15000",
      help: "When the broker ends what a lost planner left open; a take-over may wait this long."),
    SettingKey(
      name: "planner.snapshotFolder", type: .string, fallback: nil,
      help: "Folder of local snapshots, for quick restarts on the same machine; without it, none are kept."),
    SettingKey(
      name: "planner.snapshotIntervalSeconds", type: .int, fallback: "300",
      help: "Time between two snapshots of a partition; one more is written at an orderly end."),
    SettingKey(
      name: "planner.membership", type: .string, fallback: "dynamic",
      help: "dynamic, or static: a restart within session.timeout.ms keeps its partitions, without a rebalance."),
    SettingKey(
      name: "audit.store", type: .string, fallback: "rouse-audit.sqlite", help: "The audit store, a SQLite file."),
    SettingKey(name: "audit.retentionDays", type: .int, fallback: "30", help: "Older decisions are removed."),
    SettingKey(
      name: "audit.storeMegabytesMax", type: .int, fallback: "20000",
      help: "Largest size of the store; the oldest decisions make room."),
    SettingKey(name: "log.level", type: .string, fallback: "info", help: "trace, debug, info, notice, warning, error."),
  ]

  /// A line for each with its default, and a line of help, for the help text.
  static var list: String {
    all.map { key in "  \(key.name)\(key.fallback.map { $0.isEmpty ? "" : " = \($0)" } ?? "")\n    \(key.help)" }
      .joined(separator: "\n")
  }

  static func named(_ name: String) -> SettingKey? { all.first { $0.name == name } }
}
