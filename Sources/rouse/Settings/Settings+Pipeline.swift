import Foundation
import Installation
import KafkaClient
import Logging
import Pipeline
import Serving

extension Settings {
  /// Returns the settings of the pipeline.
  /// - Throws: `ValidationError` or ``Failure`` when the settings contradict one another.
  func pipeline() throws -> PipelineSettings {
    var settings = PipelineSettings(
      kafka: try kafka(), topics: TopicNames(prefix: text(.topicsPrefix) ?? ""), eventTopics: list(.topicsEvents),
      group: textOrDefault(.group), instance: text(.instance) ?? ProcessInfo.processInfo.hostName,
      timestamps: choice(.timestamps, of: ClusterSettings.Timestamps.self) ?? .arrival)
    guard !settings.eventTopics.isEmpty else {
      throw refusal(.topicsEvents, "name at least one topic with domain events")
    }
    if let own = settings.eventTopics.first(where: { settings.topics.all.contains($0) }) {
      throw refusal(.topicsEvents, "\(own) is one of Rouse's own topics")
    }
    settings.intake.duplicateWindow = numberOrDefault(.duplicateWindow)
    settings.intake.plannerLagMax = Int64(numberOrDefault(.plannerLagMax))
    settings.planner.commitInterval = .milliseconds(numberOrDefault(.commitInterval))
    settings.planner.transactionTimeout = .milliseconds(numberOrDefault(.transactionTimeout))
    settings.planner.snapshotFolder = text(.snapshotFolder)
    settings.planner.snapshotInterval = .seconds(numberOrDefault(.snapshotInterval))
    let (sweep, statistics) = (numberOrDefault(.sweepInterval), numberOrDefault(.kafkaStatistics))
    settings.planner.sweepInterval = sweep == 0 ? nil : .seconds(sweep)
    settings.statistics = statistics == 0 ? nil : .seconds(statistics)
    settings.cluster.gatewayTopic = text(.gatewayTopic)
    settings.cluster.gatewayReadsDevices = text(.gatewayDevicesView) != nil
    settings.isStaticMember = choice(.membership, of: Membership.self) == .static
    return settings
  }

  /// Returns the properties of every Kafka client. Those of `kafka.propertiesFile` take precedence over `kafka.properties`, and both over
  /// `kafka.bootstrapServers`.
  /// - Throws: `ValidationError` or ``Failure`` when a file cannot be used, or `kafka.secretFiles` names a property that is given elsewhere, too.
  private func kafka() throws -> KafkaConfiguration {
    var kafka = KafkaConfiguration([("bootstrap.servers", text(.bootstrapServers) ?? "")])
    var given = properties(.kafkaProperties)
    if let path = text(.kafkaPropertiesFile) {
      do throws(SettingRefusal) { given += try KafkaPropertiesFile.read(path) } catch {
        throw refusal(.kafkaPropertiesFile, error.words)
      }
    }
    for property in given { kafka[property.name] = property.value }
    for file in propertyFiles(.kafkaSecretFiles) {
      guard !given.contains(where: { $0.name == file.name }) else {
        throw refusal(
          .kafkaSecretFiles,
          "\(file.name) is one of kafka.properties or of kafka.propertiesFile, too; remove one of them")
      }
      do throws(SettingRefusal) {
        kafka[file.name] = try file.property(ProcessInfo.processInfo.environment).value
      } catch {
        throw refusal(.kafkaSecretFiles, error.words)
      }
    }
    return kafka
  }

  /// The roles of this process.
  var roles: Set<Role> { Set(list(.roles).compactMap { Role(rawValue: $0) }) }

  /// The number of intake threads.
  var intakeThreads: Int { numberOrDefault(.intakeThreads) }

  /// The number of planner threads: as set, else one per core.
  var plannerWorkers: Int { number(.plannerWorkers) ?? ProcessInfo.processInfo.activeProcessorCount }

  /// The threads of the stages that this process runs.
  var threads: [PipelineStatus.StageThread] {
    let counts: [(Role, Int)] = [(.intake, intakeThreads), (.planner, plannerWorkers), (.audit, 1), (.gateway, 1)]
    return counts.filter { roles.contains($0.0) }.flatMap { role, count in
      (0..<count).map { PipelineStatus.StageThread(role: role, number: $0) }
    }
  }

  /// The local storage that the roles of this process use.
  var storage: StoragePlaces {
    StoragePlaces(
      store: roles.contains(.audit) ? textOrDefault(.auditStore) : nil,
      snapshots: roles.contains(.planner) ? text(.snapshotFolder) : nil,
      devices: ownConsoleView ?? (roles.contains(.gateway) ? text(.gatewayDevicesView) : nil),
      access: roles.contains(.gateway) ? gatewayAccessPath : nil)
  }

  /// Returns the address of the pages for machines; nil if there are to be none.
  /// - Throws: `ValidationError` or ``Failure`` when the setting is no address.
  func httpListen() throws -> HTTPAddress? {
    let text = textOrDefault(.httpListen)
    if text == MachineServer.off { return nil }
    guard let address = HTTPAddress(text) else {
      throw refusal(
        .httpListen, "expected host:port such as \(MachineServer.defaultAddress.text), or off, found '\(text)'")
    }
    return address
  }

  /// The traces of a process that exports them.
  var traces: PipelineTraces { PipelineTraces(share: Double(numberOrDefault(.tracesSamples)) / 1_000_000) }

  /// Returns the collector of traces; nil if no traces are exported.
  /// - Throws: `ValidationError` or ``Failure`` when the address cannot be used, or the file of header fields.
  func spanCollector() throws -> SpanCollector? {
    guard let endpoint = try tracesEndpoint() else { return nil }
    guard let path = text(.tracesHeadersFile) else { return SpanCollector(endpoint: endpoint, headers: []) }
    do throws(SettingRefusal) {
      return SpanCollector(endpoint: endpoint, headers: try HeadersFile.read(path))
    } catch {
      throw refusal(.tracesHeadersFile, error.words)
    }
  }

  private func tracesEndpoint() throws -> URL? {
    guard let text = text(.tracesEndpoint) else { return nil }
    // The text before an @ may be a password, also in a text that is no address.
    guard !text.contains("@") else {
      throw refusal(
        .tracesEndpoint,
        "an address with an @ is refused, because a user and password in it would be shown: put them into a file of header fields, such as Authorization: Basic KEY, and name it with traces.headersFile"
      )
    }
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()), url.host != nil else {
      throw refusal(
        .tracesEndpoint, "expected an address such as http://127.0.0.1:4318/v1/traces, found '\(text)'")
    }
    return url
  }

  /// Returns the topics to create or check.
  /// - Throws: as ``pipeline()`` does.
  func topicPlan() throws -> TopicPlan {
    let pipeline = try pipeline()
    return TopicPlan.make(
      pipeline.topics, partitions: numberOrDefault(.topicsPartitions), replicas: number(.topicsReplicas),
      replayTimestamps: pipeline.timestamps == .event)
  }

  /// The form of the log.
  var logFormat: LogFormat { choice(.logFormat, of: LogFormat.self) ?? .text }

  /// The logger of the long-running roles, which writes to standard error.
  var logger: Logger {
    var logger =
      switch logFormat {
      case .text: Logger(label: "rouse") { PrintableLogHandler.standardError(label: $0) }
      case .json: Logger(label: "rouse") { JSONLogHandler(label: $0) { Words.say(json: $0) } }
      }
    logger.logLevel = choice(.logLevel, of: Logger.Level.self) ?? .info
    return logger
  }
}
