/// The keys of all settings, in the order in which they are listed.
///
/// A key is spelt the same in the settings file (`kafka.bootstrapServers` is `bootstrapServers` under `kafka`), after
/// `--set` and in messages; ``environmentName`` derives from it. ``Setting/all`` describes each of them.
enum SettingKey: String, CaseIterable, Sendable {
  case bootstrapServers = "kafka.bootstrapServers"
  case kafkaProperties = "kafka.properties"
  case kafkaPropertiesFile = "kafka.propertiesFile"
  case kafkaSecretFiles = "kafka.secretFiles"
  case kafkaStatistics = "kafka.statisticsIntervalSeconds"
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
  case sweepInterval = "planner.sweepIntervalSeconds"
  case auditStore = "audit.store"
  case auditRetention = "audit.retentionDays"
  case auditStoreSize = "audit.storeMegabytesMax"
  case gatewayListen = "gateway.listen"
  case gatewayTopic = "gateway.topic"
  case gatewayKeys = "gateway.keys"
  case gatewayTLSCertificate = "gateway.tlsCertificateFile"
  case gatewayTLSKey = "gateway.tlsKeyFile"
  case gatewayDevicesView = "gateway.devicesView"
  case gatewayAccess = "gateway.accessFile"
  case gatewayAccessDays = "gateway.accessDays"
  case gatewayAccessRecords = "gateway.accessRecords"
  case gatewayRate = "gateway.recordsPerSecond"
  case gatewayThreads = "gateway.threads"
  case gatewayBodyMax = "gateway.bodyBytesMax"
  case gatewayConnectionsMax = "gateway.connectionsMax"
  case gatewayRequestTimeout = "gateway.requestTimeoutSeconds"
  case gatewayIdleTimeout = "gateway.idleTimeoutSeconds"
  case gatewayRecordsMax = "gateway.recordsInFlightMax"
  case gatewayMegabytesMax = "gateway.megabytesInFlightMax"
  case gatewayDeliveryTimeout = "gateway.deliveryTimeoutMilliseconds"
  case consoleListen = "console.listen"
  case consoleKeys = "console.keys"
  case consoleTLSCertificate = "console.tlsCertificateFile"
  case consoleTLSKey = "console.tlsKeyFile"
  case consoleConnectionsMax = "console.connectionsMax"
  case consoleReaders = "console.readers"
  case consoleRequestsPerSecond = "console.requestsPerSecond"
  case consoleProcesses = "console.processes"
  case consoleDevicesView = "console.devicesView"
  case consoleAccessDays = "console.accessDays"
  case consoleAccessRecords = "console.accessRecords"
  case oidcIssuer = "oidc.issuer"
  case oidcAudience = "oidc.audience"
  case oidcKeysFile = "oidc.keysFile"
  case oidcKeysURL = "oidc.keysUrl"
  case oidcRolesClaim = "oidc.rolesClaim"
  case oidcGrantsFile = "oidc.grantsFile"
  case oidcClockSkew = "oidc.clockSkewSeconds"
  case httpListen = "http.listen"
  case tracesEndpoint = "traces.endpoint"
  case tracesHeadersFile = "traces.headersFile"
  case tracesSamples = "traces.samplesPerMillion"
  case logLevel = "log.level"
  case logFormat = "log.format"

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
