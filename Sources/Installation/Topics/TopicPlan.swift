import Foundation
public import KafkaClient

/// The topics that an installation needs, with their partitions and settings. `TopicPlan.make` gives the reason for
/// each setting.
public struct TopicPlan: Equatable, Sendable {
  /// The topics, in the order in which they are created.
  public var topics: [KafkaNewTopic]

  /// Makes a plan of given topics.
  ///
  /// - Parameter topics: The topics.
  package init(topics: [KafkaNewTopic]) { self.topics = topics }

  /// The most bytes of a record that `rouse.state` accepts. A planner writes records of up to
  /// `PlannerBounds.stateRecordBytesMax`, and larger ones in pieces; only the position, with one entry for each
  /// partition of the public topics, is always in one piece.
  /// - Beyond: the broker refuses the record.
  package static let stateRecordBytesMax = 4 << 20

  /// Makes the plan of an installation.
  ///
  /// - Parameters:
  ///   - names: The names of the topics.
  ///   - partitions: The number of partitions of every topic: the largest number of planner threads that can share the work.
  /// It cannot be changed
  ///     later without moving the state.
  ///   - replicas: The number of replicas; nil takes the broker's default.
  ///   - replayTimestamps: Whether the log keeps the timestamps that intake writes (to replay old events) instead of the
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
      // A restart reads the whole topic: small segments and an eager cleaner keep it near the size of the state.
      topic(
        names.state,
        [
          "cleanup.policy": "compact", "segment.bytes": "67108864", "min.cleanable.dirty.ratio": "0.2",
          "delete.retention.ms": "86400000", "max.message.bytes": "\(stateRecordBytesMax)",
        ]),
      topic(names.commands, ["cleanup.policy": "delete", "retention.ms": "86400000"]),
      // One record holds many decisions, of one log partition (`DecisionBlock`).
      topic(names.decisions, ["cleanup.policy": "delete", "retention.ms": week]),
      // Dead letters are kept for 30 days. They hold whole events, hence the size.
      topic(
        names.deadLetters, ["cleanup.policy": "delete", "retention.ms": "2592000000", "max.message.bytes": "4194304"]),
    ])
  }

  /// Creates the missing topics and waits until the brokers list them, so that a process started next finds them.
  ///
  /// - Parameters:
  ///   - admin: The client.
  ///   - timeout: The longest wait for the creation, and again for the list.
  /// - Returns: One outcome for each topic.
  /// - Throws: `KafkaError` if the broker does not answer.
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
  ///
  /// - Parameters:
  ///   - admin: The client.
  ///   - events: The data teams' topics, which only have to exist.
  ///   - timeout: The longest wait for each answer.
  /// - Returns: The differences; empty when all is as planned.
  /// - Throws: `KafkaError` if the broker does not answer.
  public func check(
    _ admin: KafkaAdmin, events: [String] = [], timeout: Duration = .seconds(30)
  ) throws(KafkaError) -> [TopicProblem] {
    let described = try admin.describeCluster(timeout: timeout).topics
    var configurations: [String: [String: String]] = [:]
    for topic in topics where described.contains(where: { $0.name == topic.name && !$0.partitions.isEmpty }) {
      configurations[topic.name] = try admin.describeTopicConfiguration(topic.name, timeout: timeout)
    }
    return problems(described, configurations, events: events)
  }

  /// Compares what a cluster told with the plan.
  ///
  /// - Parameters:
  ///   - described: The topics of the cluster.
  ///   - configurations: The configurations in force, by topic. The settings of topics that are missing here are not compared.
  ///   - events: The data teams' topics, which only have to exist.
  /// - Returns: The differences; empty when all is as planned.
  package func problems(
    _ described: [KafkaTopic], _ configurations: [String: [String: String]], events: [String]
  ) -> [TopicProblem] {
    var problems: [TopicProblem] = []
    func find(_ name: String) -> KafkaTopic? {
      if let found = described.first(where: { $0.name == name }), !found.partitions.isEmpty { return found }
      problems.append(TopicProblem(topic: name, what: TopicProblem.topic, expected: "exists", found: "missing"))
      return nil
    }
    for topic in topics {
      guard let found = find(topic.name) else { continue }
      if found.partitions.count != topic.partitions {
        problems.append(
          TopicProblem(
            topic: topic.name, what: TopicProblem.partitions, expected: "\(topic.partitions)",
            found: "\(found.partitions.count)"))
      }
      guard let settings = configurations[topic.name] else { continue }
      for (name, value) in topic.configuration.sorted(by: { $0.key < $1.key }) where settings[name] != value {
        problems.append(
          TopicProblem(topic: topic.name, what: name, expected: value, found: settings[name] ?? "not stated"))
      }
    }
    for name in events { _ = find(name) }
    return problems
  }
}

/// The outcome of creating one topic of a plan.
public struct TopicOutcome: Equatable, Sendable {
  /// The name of the topic.
  public var name: String
  /// Whether the topic was there already.
  public var existed: Bool
  /// The reason why the topic could not be created; nil if it was created or existed.
  public var error: KafkaError?
}

/// One difference between the plan and the cluster.
public struct TopicProblem: Equatable, Sendable {
  /// The name of the topic.
  public var topic: String
  /// The thing that differs: `topic`, `partitions`, the name of a setting, or a text that begins with `compaction`.
  public var what: String
  /// The planned value.
  public var expected: String
  /// The value on the cluster.
  public var found: String

  /// States a difference.
  package init(topic: String, what: String, expected: String, found: String) {
    self.topic = topic
    self.what = what
    self.expected = expected
    self.found = found
  }

  /// The word in `what` for a topic that does not exist.
  package static let topic = "topic"
  /// The word in `what` for another number of partitions.
  package static let partitions = "partitions"
  /// The beginning of `what` where the cleaner does not keep up (`CompactedTopic`).
  package static let compaction = "compaction"

  /// The sorts of differences. This is the only list of them: `rouse topics check` and `rouse doctor` go by it.
  public enum Sort: Sendable, CaseIterable {
    /// The topic does not exist.
    case missing
    /// The topic has another number of partitions, which cannot be changed later.
    case partitions
    /// A setting of the topic has another value.
    case setting
    /// The cleaner of a compacted topic does not keep up.
    case compaction
  }

  /// The sort of the difference.
  public var sort: Sort {
    switch what {
    case Self.topic: .missing
    case Self.partitions: .partitions
    case _ where what.hasPrefix(Self.compaction): .compaction
    default: .setting
    }
  }
}
