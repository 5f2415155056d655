/// The keys of all settings, in the order in which they are listed.
///
/// A key is spelt the same in the settings file (`kafka.bootstrapServers` is `bootstrapServers` under `kafka`), after
/// `--set` and in messages; ``environmentName`` derives from it. ``Setting/all`` describes each of them.
enum SettingKey: String, CaseIterable, Sendable {
  case bootstrapServers = "kafka.bootstrapServers"
  case kafkaProperties = "kafka.properties"
  case topicsPrefix = "topics.prefix"
  case topicsEvents = "topics.events"
  case topicsPartitions = "topics.partitions"
  case topicsReplicas = "topics.replicas"
  case group
  case instance
  case membership
  case roles
  case timestamps
  case policy
  case intakeThreads = "intake.threads"
  case duplicateWindow = "intake.duplicateWindow"
  case plannerLagMax = "intake.plannerLagMax"
  case plannerWorkers = "planner.workers"
  case commitInterval = "planner.commitIntervalMilliseconds"
  case transactionTimeout = "planner.transactionTimeoutMilliseconds"
  case snapshotFolder = "planner.snapshotFolder"
  case snapshotInterval = "planner.snapshotIntervalSeconds"
  case auditStore = "audit.store"
  case auditRetention = "audit.retentionDays"
  case auditStoreSize = "audit.storeMegabytesMax"
  case logLevel = "log.level"

  /// The name of the environment variable: `ROUSE_KAFKA_BOOTSTRAP_SERVERS` for `kafka.bootstrapServers`.
  var environmentName: String {
    var text = "ROUSE"
    for component in rawValue.split(separator: ".") {
      text += "_"
      for character in component {
        if character.isUppercase { text += "_" }
        text += character.uppercased()
      }
    }
    return text
  }
}
