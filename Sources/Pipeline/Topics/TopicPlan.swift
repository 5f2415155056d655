import Foundation
public import KafkaClient

/// The names of Rouse's own topics: a prefix and a fixed word each.
public struct TopicNames: Equatable, Sendable {
  /// `rouse.` by default; several installations can share a cluster by different prefixes.
  public var prefix: String

  public init(prefix: String = "rouse.") { self.prefix = prefix }

  public var devices: String { prefix + "devices" }
  public var signals: String { prefix + "signals" }
  public var log: String { prefix + "log" }
  public var state: String { prefix + "state" }
  public var commands: String { prefix + "commands" }
  public var decisions: String { prefix + "decisions" }
  public var deadLetters: String { prefix + "dead-letters" }

  public var all: [String] { [devices, signals, log, state, commands, decisions, deadLetters] }
}

/// The topics as they should be: partitions and settings, each setting with its reason in `TopicPlan.make`.
public struct TopicPlan: Equatable, Sendable {
  public var topics: [KafkaNewTopic]

  /// Bytes of a state record at most: a device with every bound of `DomainBounds` and `PlannerBounds` reached takes about
  /// 1 MB; a common one 400 bytes.
  static let stateRecordBytesMax = 4 << 20

  /// - Parameters:
  ///   - partitions: of every topic; the number of planners that can work side by side. It cannot be changed later
  ///     without moving the state.
  ///   - replicas: nil takes the broker's default.
  ///   - replayTimestamps: the log keeps the timestamps that intake writes (replay of old events) instead of the
  ///     broker's clock.
  public static func make(
    _ names: TopicNames, partitions: Int, replicas: Int?, replayTimestamps: Bool = false
  ) -> TopicPlan {
    func topic(_ name: String, _ configuration: [String: String]) -> KafkaNewTopic {
      KafkaNewTopic(name: name, partitions: partitions, replicas: replicas, configuration: configuration)
    }
    let week = "604800000"
    return TopicPlan(topics: [
      // The newest registration of a device is all that is needed.
      topic(names.devices, ["cleanup.policy": "compact"]),
      topic(names.signals, ["cleanup.policy": "delete", "retention.ms": week]),
      // Planner time is the broker's clock, and a replay of last week must find last week.
      topic(
        names.log,
        [
          "cleanup.policy": "delete", "retention.ms": replayTimestamps ? "-1" : week,
          "message.timestamp.type": replayTimestamps ? "CreateTime" : "LogAppendTime",
        ]),
      // A restart reads it whole: small segments and an eager cleaner keep it near the size of the state.
      topic(
        names.state,
        [
          "cleanup.policy": "compact", "segment.bytes": "67108864", "min.cleanable.dirty.ratio": "0.2",
          "delete.retention.ms": "86400000", "max.message.bytes": "\(stateRecordBytesMax)",
        ]),
      topic(names.commands, ["cleanup.policy": "delete", "retention.ms": "86400000"]),
      topic(names.decisions, ["cleanup.policy": "delete", "retention.ms": week]),
      // What nobody has looked at for a month is not looked at any more. Whole events stand in it.
      topic(
        names.deadLetters, ["cleanup.policy": "delete", "retention.ms": "2592000000", "max.message.bytes": "4194304"]),
    ])
  }

  /// Creates what is missing, and waits until the brokers tell of it, so that a process started next finds it.
  /// - Returns: one line of outcome per topic; `error` nil where it was created or was there already.
  public func create(_ admin: KafkaAdmin, timeout: Duration = .seconds(30)) throws(KafkaError) -> [TopicOutcome] {
    let outcomes = try admin.createTopics(topics, timeout: timeout).map { result in
      if result.error?.code == .topicExists { return TopicOutcome(name: result.name, existed: true, error: nil) }
      return TopicOutcome(name: result.name, existed: false, error: result.error)
    }
    let made = Set(outcomes.filter { $0.error == nil }.map(\.name))
    let end = ContinuousClock.now + timeout
    while ContinuousClock.now < end {
      let known = try admin.describeCluster(timeout: timeout).topics.filter { !$0.partitions.isEmpty }
      if made.isSubset(of: known.map(\.name)) { break }
      Thread.sleep(forTimeInterval: 0.1)
    }
    return outcomes
  }

  /// Compares the cluster with the plan.
  /// - Parameter events: the data teams' topics, which only have to be there.
  /// - Returns: what differs; empty when all is as planned. Partition counts may be larger than planned only where all
  ///   agree: the log and the state must have the same number.
  public func check(
    _ admin: KafkaAdmin, events: [String] = [], timeout: Duration = .seconds(30)
  ) throws(KafkaError) -> [TopicProblem] {
    var problems: [TopicProblem] = []
    let described = try admin.describeCluster(timeout: timeout).topics
    func find(_ name: String) -> KafkaTopic? {
      if let found = described.first(where: { $0.name == name }), !found.partitions.isEmpty { return found }
      problems.append(TopicProblem(topic: name, what: "topic", expected: "exists", found: "missing"))
      return nil
    }
    for topic in topics {
      guard let found = find(topic.name) else { continue }
      if found.partitions.count != topic.partitions {
        problems.append(
          TopicProblem(
            topic: topic.name, what: "partitions", expected: "\(topic.partitions)", found: "\(found.partitions.count)"))
      }
      let settings = try admin.describeTopicConfiguration(topic.name, timeout: timeout)
      for (name, value) in topic.configuration.sorted(by: { $0.key < $1.key }) where settings[name] != value {
        problems.append(
          TopicProblem(topic: topic.name, what: name, expected: value, found: settings[name] ?? "not stated"))
      }
    }
    for name in events { _ = find(name) }
    return problems
  }
}

/// What became of one topic of a plan.
public struct TopicOutcome: Equatable, Sendable {
  public var name: String
  public var existed: Bool
  public var error: KafkaError?
}

/// One difference between the plan and the cluster.
public struct TopicProblem: Equatable, Sendable {
  public var topic: String
  /// `topic`, `partitions` or the name of a setting.
  public var what: String
  public var expected: String
  public var found: String
}
