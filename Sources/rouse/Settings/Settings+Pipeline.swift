import Foundation
import KafkaClient
import Logging
import Pipeline

extension Settings {
  /// Returns the settings of the pipeline.
  /// - Throws: `ValidationError` or ``Failure`` when the settings contradict one another.
  func pipeline() throws -> PipelineSettings {
    var settings = PipelineSettings(
      kafka: kafka, topics: TopicNames(prefix: text(.topicsPrefix) ?? ""), eventTopics: list(.topicsEvents),
      group: textOrDefault(.group), instance: text(.instance) ?? ProcessInfo.processInfo.hostName,
      timestamps: choice(.timestamps, of: PipelineSettings.Timestamps.self) ?? .arrival)
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
    settings.isStaticMember = choice(.membership, of: Membership.self) == .static
    return settings
  }

  /// The properties of every Kafka client. `bootstrap.servers` in `kafka.properties` takes precedence over the setting.
  private var kafka: KafkaConfiguration {
    var kafka = KafkaConfiguration([("bootstrap.servers", text(.bootstrapServers) ?? "")])
    for property in properties(.kafkaProperties) { kafka[property.name] = property.value }
    return kafka
  }

  /// The roles of this process.
  var roles: Set<Role> { Set(list(.roles).compactMap { Role(rawValue: $0) }) }

  /// The number of intake threads.
  var intakeThreads: Int { numberOrDefault(.intakeThreads) }

  /// The number of planner threads: as set, else one per core.
  var plannerWorkers: Int { number(.plannerWorkers) ?? ProcessInfo.processInfo.activeProcessorCount }

  /// Returns the topics to create or check.
  /// - Throws: as ``pipeline()`` does.
  func topicPlan() throws -> TopicPlan {
    let pipeline = try pipeline()
    return TopicPlan.make(
      pipeline.topics, partitions: numberOrDefault(.topicsPartitions), replicas: number(.topicsReplicas),
      replayTimestamps: pipeline.timestamps == .event)
  }

  /// The logger of the long-running roles, which writes to standard error.
  var logger: Logger {
    var logger = Logger(label: "rouse") { PrintableLogHandler.standardError(label: $0) }
    logger.logLevel = choice(.logLevel, of: Logger.Level.self) ?? .info
    return logger
  }
}
