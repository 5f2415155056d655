import Gateway
import Installation
import Logging
import Pipeline
import Serving

extension Setting {
  private static let pipeline = PlannerSettings()
  private static let intake = IntakeSettings()
  private static let serverLimits = HTTPServerLimits()
  private static let gatewayBounds = RecordProducer.Bounds()

  /// Every setting, in the order of ``SettingKey``.
  static let all: [Setting] =
    [
      Setting(
        .bootstrapServers, .text, .text("localhost:9092"), option: "--bootstrap", "Brokers to ask first, host:port."),
      Setting(
        .kafkaProperties, .properties, .properties([]),
        "Properties of librdkafka for every client, such as security.protocol=SASL_SSL; a mapping in the file."),
      Setting(
        .kafkaPropertiesFile, .text, without: "no file is read",
        "File with more of these, one name=value a line, such as a mounted secret; it takes precedence over them."),
      Setting(
        .kafkaSecretFiles, .propertyFiles, .propertyFiles([]),
        "Properties with a value in a file of its own, such as sasl.password=/run/secrets/kafka; a mapping in the file."
      ),
      Setting(
        .kafkaStatistics, .number(0...3600, unit: "seconds"), .number(10),
        "Time between two statistics of each Kafka client, for the metrics rouse_kafka_…; 0: none."),
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
        .roles, .choices(Role.allCases.map(\.rawValue)), .texts(Role.defaults.map(\.rawValue)),
        "Roles of this process: some of intake, planner, audit, gateway, console."),
      Setting(
        .timestamps, .choice(ClusterSettings.Timestamps.allCases.map(\.rawValue)),
        .text(ClusterSettings.Timestamps.arrival.rawValue),
        "Source of log time: arrival, or event to replay the past."
      ),
      Setting(
        .policy, .text, without: "the log must hold a policy already, or every event is NO_MATCH",
        "Policy file that a new, empty log starts with."),
      Setting(
        .intakeThreads, .number(1...64, unit: "threads"), .number(1),
        "Intake threads; they share the partitions of the public topics."),
      Setting(
        .duplicateWindow, .number(1...50_000_000, unit: "ids"), .number(intake.duplicateWindow),
        "Events, and as many signals, that each intake thread remembers to drop repeats."),
      Setting(
        .plannerLagMax, .number(0...Int(Int32.max), unit: "log records"), .number(Int(intake.plannerLagMax)),
        "Intake pauses while a planner is further behind than this many log records; 0: never."),
      Setting(
        .plannerWorkers, .number(1...1024, unit: "threads"), without: "one per core",
        "Planner threads; without it, one per core."),
      Setting(
        .commitInterval, .number(1...60_000, unit: "milliseconds"), .number(milliseconds(pipeline.commitInterval)),
        "Longest time between two commits, unless they are slow; a planner without further records commits sooner."),
      Setting(
        .transactionTimeout, .number(1000...900_000, unit: "milliseconds"),
        .number(milliseconds(pipeline.transactionTimeout)),
        "Time after which the broker aborts the transaction of a lost planner; a take-over may wait this long."),
      Setting(
        .snapshotFolder, .text, without: "no snapshots are kept",
        "Folder of local snapshots, for quick restarts on the same machine; without it, none are kept."),
      Setting(
        .snapshotInterval, .number(1...86_400, unit: "seconds"),
        .number(milliseconds(pipeline.snapshotInterval) / 1000),
        "Time between two snapshots of a partition; one more is written at an orderly end."),
      Setting(
        .sweepInterval, .number(0...86_400, unit: "seconds"), .number(10),
        "Shortest time between two sweeps over the screens of a partition, for metrics of screens and tokens; 0: none."),
      Setting(.auditStore, .text, .text("rouse-audit.sqlite"), "The audit store, a SQLite file."),
      Setting(.auditRetention, .number(1...36_500, unit: "days"), .number(30), "Age at which decisions are removed."),
      Setting(
        .auditStoreSize, .number(1...10_000_000, unit: "MiB"), .number(20_000),
        "Largest size of the store; the oldest decisions make room."),
    ] + gateway + console + tokens + [
      Setting(
        .httpListen, .text, .text(MachineServer.defaultAddress.text),
        "Address host:port of the pages for machines: /metrics, /livez, /readyz, /startupz, /version, /status; off: none."
      ),
      Setting(
        .tracesEndpoint, .text, without: "no traces are exported",
        "Address of a collector that takes traces as OTLP in JSON, such as http://127.0.0.1:4318/v1/traces."),
      Setting(
        .tracesHeadersFile, .text, without: "no header fields are added",
        "File with header fields for the collector, one name: value a line, such as a mounted secret with its key."),
      Setting(
        .tracesSamples, .number(0...1_000_000, unit: "events a million"), .number(10_000),
        "Events without a traceparent that begin a trace; with one, it decides."),
      Setting(
        .logLevel, .choice(Logger.Level.allCases.map(\.rawValue)), .text(Logger.Level.info.rawValue),
        "Least level that is logged: \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))."),
      Setting(
        .logFormat, .choice(LogFormat.allCases.map(\.rawValue)), .text(LogFormat.text.rawValue),
        "Form of the log on standard error: text, or json with one object a line."),
    ]

  /// The settings of the role `gateway`.
  private static let gateway: [Setting] = [
    Setting(
      .gatewayListen, .text, .text("127.0.0.1:8080"),
      "Address host:port of the HTTP gateway; one that other hosts reach needs gateway.keys or oidc.issuer."),
    Setting(
      .gatewayTopic, .text, without: "the topic of topics.events, if there is one",
      "Topic of the events that the gateway takes, one of topics.events; needed if there are several."),
    Setting(
      .gatewayKeys, .text, without: "no keys are asked for",
      "Key file of the gateway, made by rouse keys create; read again when it changes."),
    Setting(
      .gatewayTLSCertificate, .text, without: "the gateway has no TLS",
      "Certificate of the gateway for TLS and its chain, in PEM; a renewed file is taken up at once."),
    Setting(
      .gatewayTLSKey, .text, without: "the gateway has no TLS",
      "Private key of that certificate, in PEM and without a passphrase."),
    Setting(
      .gatewayDevicesView, .text, without: "GET of a device is not answered",
      "Copy of the registrations for the gateway's GET, If-Match and If-None-Match, and for the console to count in, with the newest looks at each device; a SQLite file, made anew if it is removed."
    ),
    Setting(
      .gatewayAccess, .text, without: "beside gateway.devicesView, or no records if there is none",
      "File of the records of who changed a device or was refused; changes are refused while it cannot be written."),
    Setting(
      .gatewayAccessDays, .number(1...36_500, unit: "days"), .number(400), "Days for which these records are kept."),
    Setting(
      .gatewayAccessRecords, .number(1000...1_000_000_000, unit: "records"), .number(1_000_000),
      "Most of these records that are kept; the oldest go first."),
    Setting(
      .gatewayRate, .number(0...1_000_000, unit: "records a second"), .number(0),
      "Records that each key, and each subject of tokens, may send a second, with two seconds' worth at once; 0: any number."
    ),
    Setting(.gatewayThreads, .number(1...64, unit: "threads"), .number(2), "Threads of the gateway's HTTP server."),
    Setting(
      .gatewayBodyMax, .number(1024...(16 << 20), unit: "bytes"), .number(serverLimits.bodyBytesMax),
      "Largest body of a request; a larger one is refused."),
    Setting(
      .gatewayConnectionsMax, .number(1...100_000, unit: "connections"), .number(serverLimits.connectionsMax),
      "Connections at a time; the oldest without a complete head gives way to a new one, and one address has three quarters at most."
    ),
    Setting(
      .gatewayRequestTimeout, .number(1...600, unit: "seconds"), .number(serverLimits.requestSeconds),
      "Time in which the body of a request must arrive, and in which its answer must be taken."),
    Setting(
      .gatewayIdleTimeout, .number(1...3600, unit: "seconds"), .number(serverLimits.idleSeconds),
      "Time after which a connection without a request is closed."),
    Setting(
      .gatewayRecordsMax, .number(1...1_000_000, unit: "records"), .number(gatewayBounds.recordsMax),
      "Records that wait for the brokers; beyond them requests get 503."),
    Setting(
      .gatewayMegabytesMax, .number(1...4096, unit: "MiB"), .number(gatewayBounds.bytesMax >> 20),
      "Size of these records, and of the requests that are being received."),
    Setting(
      .gatewayDeliveryTimeout, .number(100...120_000, unit: "milliseconds"),
      .number(milliseconds(gatewayBounds.deliveryTime)),
      "Time in which the brokers must acknowledge a record; then its request gets 503."),
  ]

  /// The settings of the role `console`.
  private static let console: [Setting] = [
    Setting(
      .consoleListen, .text, .text(ConsoleRole.defaultAddress.text),
      "Address host:port of the console; one that other hosts reach needs console.keys or oidc.issuer."),
    Setting(
      .consoleKeys, .text, without: "no keys are asked for",
      "Key file of the console, made by rouse keys create; it may be the gateway's."),
    Setting(
      .consoleTLSCertificate, .text, without: "the console has no TLS",
      "Certificate of the console for TLS and its chain, in PEM; a renewed file is taken up at once."),
    Setting(
      .consoleTLSKey, .text, without: "the console has no TLS",
      "Private key of that certificate, in PEM and without a passphrase."),
    Setting(
      .consoleConnectionsMax, .number(1...100_000, unit: "connections"), .number(serverLimits.connectionsMax),
      "Connections at a time; the oldest without a complete head gives way to a new one, and one address has three quarters at most."
    ),
    Setting(
      .consoleReaders, .number(1...64, unit: "threads"), .number(2),
      "Threads that answer the console's requests, each with a connection to audit.store."),
    Setting(
      .consoleRequestsPerSecond, .number(0...1_000_000, unit: "requests"), .number(0),
      "Requests that each key, and each subject of tokens, may send a second, with two seconds' worth at once; 0: any number."
    ),
    Setting(
      .consoleProcesses, .texts, .texts([]),
      "Addresses host:port of http.listen of other processes, for the page about health and rouse doctor; every address of a host name is asked, of IPv6 only if it has none of IPv4."
    ),
    Setting(
      .consoleDevicesView, .text, without: "the console reads gateway.devicesView, if that is set",
      "Copy of the registrations, with the newest looks at each device, that the console keeps itself because it cannot read a gateway's; a SQLite file, made anew if it is removed."
    ),
    Setting(
      .consoleAccessDays, .number(1...36_500, unit: "days"), .number(400),
      "Days for which the records of who looked or changed something are kept, beside audit.store."),
    Setting(
      .consoleAccessRecords, .number(1000...1_000_000_000, unit: "records"), .number(1_000_000),
      "Most of these records that are kept; the oldest go first."),
  ]

  /// The settings of tokens, for the roles `gateway` and `console`.
  private static let tokens: [Setting] = [
    Setting(
      .oidcIssuer, .text, without: "no tokens are taken",
      "Issuer of the tokens that the gateway and the console take beside keys, exactly as in their claim iss."),
    Setting(
      .oidcAudience, .text, without: "no tokens are taken", "Audience that a token must name in its claim aud."),
    Setting(
      .oidcKeysFile, .text, without: "the keys come from oidc.keysUrl",
      "File with the issuer's public keys, a JSON Web Key Set; read again when it changes."),
    Setting(
      .oidcKeysURL, .text, without: "the keys come from oidc.keysFile",
      "Address of these keys, such as https://issuer.example/jwks.json; asked every five minutes."),
    Setting(
      .oidcRolesClaim, .text, .text("roles"),
      "Claim with the roles of a token; dots lead into nested claims, as in realm_access.roles."),
    Setting(
      .oidcGrantsFile, .text, without: "the values auditor and operator give these roles",
      "File that says which value of the claim gives which role; read again when it changes."),
    Setting(
      .oidcClockSkew, .number(0...600, unit: "seconds"), .number(60),
      "Tolerance for the clocks of the issuer and of this host."),
  ]

  private static func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
}

/// The forms of the log.
enum LogFormat: String, CaseIterable {
  case text, json
}

/// The ways in which planner threads belong to their consumer group.
enum Membership: String, CaseIterable {
  case dynamic, `static`
}
