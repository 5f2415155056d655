import Domain
import Foundation
package import Installation
package import KafkaClient
import Policies

/// Looks at an installation on a cluster: its topics, its readers, its clock and its policy. It only reads: it appends no record, commits
/// no offset, joins no group and makes no topic.
///
/// Each call to the cluster waits for `answerTimeMax` at most, and the whole survey for `timeMax`. After a call without an answer,
/// the rest is left out and listed as unseen. Use it on one thread.
package struct ClusterSurvey {
  let settings: ClusterSettings
  let state: StateFormat
  let plan: TopicPlan
  let roles: Set<Role>
  /// The positions that readers have told by themselves. They count if the group has committed none, or an earlier one.
  let positions: [KafkaTopicPartition: Int64]

  /// The longest wait for one answer of the cluster.
  /// - Beyond: the survey goes no further, and `rouse doctor` lists what it has not seen.
  static let answerTimeMax = Duration.seconds(5)
  /// The longest time of a survey.
  /// - Beyond: what is left is listed by `rouse doctor` as not seen.
  static let timeMax = Duration.seconds(40)
  /// The longest time in which records are read: the oldest that waits in each partition, and the newest policies.
  /// - Beyond: `rouse doctor` states the number of waiting records without their age, or no policy of the log.
  static let readTimeMax = Duration.seconds(5)
  /// The longest wait for a new record of the log, whose time shows the clock of the broker.
  /// - Beyond: only a clock of this machine that is behind can be seen.
  static let freshTimeMax = Duration.seconds(2)
  /// The longest time in which the compacted topics are measured.
  /// - Beyond: the partitions that are left are not measured.
  static let compactionTimeMax = Duration.seconds(8)
  /// The numbers of offsets before the end of a log partition in which the newest policy is looked for, one after the other.
  static let policyWindows: [Int64] = [64, 4096, 65_536]

  /// Makes a survey.
  ///
  /// - Parameters:
  ///   - settings: The names, and how to reach Kafka.
  ///   - state: The format of the state records.
  ///   - plan: The topics as they should be.
  ///   - roles: The roles of the process. Partitions that none of them reads are left out.
  ///   - positions: The offsets of the next records, as far as readers have told them.
  package init(
    settings: ClusterSettings, state: StateFormat, plan: TopicPlan, roles: Set<Role>,
    positions: [KafkaTopicPartition: Int64]
  ) {
    self.settings = settings
    self.state = state
    self.plan = plan
    self.roles = roles
    self.positions = positions
  }

  /// Makes the survey.
  ///
  /// - Throws: `KafkaError` if no broker answers within `answerTimeMax`, or a property of the client is refused.
  package func run() throws(KafkaError) -> ClusterFacts {
    let time = SurveyTime(Self.timeMax)
    let admin = try KafkaAdmin(settings.kafka)
    var facts = try topics(admin, time)
    let consumer = try KafkaConsumer(readerConfiguration(settings.readerGroup))
    defer { consumer.close(timeout: .seconds(2)) }
    follow(consumer, time, &facts)
    readOldest(consumer, time, &facts)
    if roles.contains(.planner) { findPolicies(consumer, time, &facts) }
    measure(admin, time, &facts)
    return facts
  }

  /// Makes the part of the survey about topics, for which no record is read: those that exist, and their differences from the plan.
  ///
  /// - Throws: As ``run()`` does.
  package func topics() throws(KafkaError) -> ClusterFacts {
    try topics(KafkaAdmin(settings.kafka), SurveyTime(Self.answerTimeMax))
  }

  /// Makes the part of the survey about readers for which no record is read: how far each of them is, without the age of what waits.
  ///
  /// - Throws: As ``run()`` does.
  package func progress() throws(KafkaError) -> ClusterFacts {
    var facts = facts(of: try KafkaAdmin(settings.kafka).describeCluster(timeout: Self.answerTimeMax))
    let consumer = try KafkaConsumer(readerConfiguration(settings.readerGroup))
    defer { consumer.close(timeout: .seconds(2)) }
    follow(consumer, SurveyTime(Self.answerTimeMax), &facts)
    return facts
  }

  /// Returns the topics of an installation among all of a cluster.
  private func facts(of cluster: KafkaCluster) -> ClusterFacts {
    var facts = ClusterFacts()
    facts.brokers = cluster.brokers.count
    let names = settings.topics.all + settings.eventTopics
    for topic in cluster.topics where names.contains(topic.name) && !topic.partitions.isEmpty {
      facts.topics[topic.name] = topic
    }
    return facts
  }

  private func topics(_ admin: KafkaAdmin, _ time: SurveyTime) throws(KafkaError) -> ClusterFacts {
    let cluster = try admin.describeCluster(timeout: Self.answerTimeMax)
    var facts = facts(of: cluster)
    configure(admin, time, &facts)
    facts.problems = plan.problems(cluster.topics, facts.configurations, events: settings.eventTopics)
    return facts
  }

  /// The properties of a consumer that reads a few records of partitions that are assigned by hand.
  private func readerConfiguration(_ group: String) -> KafkaConfiguration {
    settings.client(
      [
        "group.id": group, "isolation.level": "read_committed", "enable.auto.commit": "false",
        "enable.partition.eof": "true", "auto.offset.reset": "earliest", "fetch.message.max.bytes": "65536",
        "allow.auto.create.topics": "false",
      ], defaults: ["fetch.wait.max.ms": "50", "queued.max.messages.kbytes": "8192"])
  }

  /// Asks for the configuration of each topic of the plan.
  private func configure(_ admin: KafkaAdmin, _ time: SurveyTime, _ facts: inout ClusterFacts) {
    guard !settings.isBrokerEmbedded else { return }
    for topic in plan.topics where facts.topics[topic.name] != nil {
      do throws(KafkaError) {
        facts.configurations[topic.name] = try admin.describeTopicConfiguration(
          topic.name, timeout: time.bound(Self.answerTimeMax))
      } catch {
        // One topic stands for the others: a principal has the permission for all of them or for none, as a rule.
        facts.unseen.append(.init("the settings of \(topic.name) and of the topics after it", reason: error.message))
        return
      }
    }
  }

  /// Measures the compacted topics, if the cluster tells their settings.
  private func measure(_ admin: KafkaAdmin, _ time: SurveyTime, _ facts: inout ClusterFacts) {
    guard [settings.topics.state, settings.topics.devices].allSatisfy({ facts.configurations[$0] != nil }) else {
      return
    }
    guard !time.isOver else { return facts.unseen.append(.init(Self.compaction, reason: Self.late)) }
    do throws(KafkaError) {
      let check = CompactionCheck(settings: settings, state: state, timeMax: min(Self.compactionTimeMax, time.left))
      facts.problems += try check.run(admin, timeout: Self.answerTimeMax).flatMap(\.problems)
    } catch {
      facts.unseen.append(.init(Self.compaction, reason: error.message))
    }
  }

  private static let compaction = "the compaction of topics"
  static let late = "the time was over"

  // MARK: Readers

  /// The topics that a role reads.
  private func topics(of role: Role) -> [String] {
    switch role {
    case .intake: settings.eventTopics + [settings.topics.devices, settings.topics.signals]
    case .planner: [settings.topics.log]
    case .audit: [settings.topics.decisions, settings.topics.commands]
    // The gateway only writes. The console reads the store.
    case .gateway, .console: []
    }
  }

  /// Finds how far each reader is.
  private func follow(_ consumer: KafkaConsumer, _ time: SurveyTime, _ facts: inout ClusterFacts) {
    for role in Role.allCases where roles.contains(role) {
      let partitions = topics(of: role).flatMap { name in
        (facts.topics[name]?.partitions ?? []).map { KafkaTopicPartition(topic: name, partition: $0.id) }
      }
      guard !partitions.isEmpty else { continue }
      let positions = positions(of: role, partitions, time, &facts)
      for partition in partitions {
        guard let ends = ends(of: partition, consumer, time, &facts) else { break }
        facts.progress.append(
          ClusterFacts.PartitionProgress(
            role: role, partition: partition, low: ends.low, high: ends.high, next: positions.found[partition],
            isKnown: positions.isComplete || positions.found[partition] != nil))
      }
    }
  }

  /// Returns the positions of a role: those that its group committed, or later ones that a reader told; and whether the group could be asked.
  private func positions(
    of role: Role, _ partitions: [KafkaTopicPartition], _ time: SurveyTime, _ facts: inout ClusterFacts
  ) -> (found: [KafkaTopicPartition: Int64], isComplete: Bool) {
    var found = positions.filter { partitions.contains($0.key) }
    // The audit store keeps its positions by itself.
    guard role != .audit else { return (found, true) }
    // Planners commit their offsets in transactions.
    guard role != .planner || !settings.isBrokerEmbedded else { return (found, false) }
    let group = role == .intake ? settings.intakeGroup : settings.plannerGroup
    do throws(KafkaError) {
      let asker = try KafkaConsumer(readerConfiguration(group))
      defer { asker.close(timeout: .seconds(2)) }
      for position in try asker.committed(partitions, timeout: time.bound(Self.answerTimeMax)) {
        found[position.partition] = max(found[position.partition] ?? 0, position.offset)
      }
    } catch {
      note(error, AccessRule.Resource(.group, group), .describe, "the positions of the group \(group)", &facts)
      return (found, false)
    }
    return (found, true)
  }

  /// Asks for the ends of a partition. After a wait in vain the survey asks for no further ones.
  private func ends(
    of partition: KafkaTopicPartition, _ consumer: KafkaConsumer, _ time: SurveyTime, _ facts: inout ClusterFacts
  ) -> KafkaWatermarks? {
    guard !time.isOver else {
      facts.unseen.append(.init("the ends of \(partition) and of the partitions after it", reason: Self.late))
      return nil
    }
    do throws(KafkaError) {
      return try consumer.watermarks(of: partition, timeout: time.bound(Self.answerTimeMax))
    } catch {
      note(
        error, AccessRule.Resource(.topic, partition.topic), .describe,
        "the ends of \(partition) and of the partitions after it", &facts)
      return nil
    }
  }

  /// Notes a permission that is missing, or a part that could not be seen.
  private func note(
    _ error: KafkaError, _ resource: AccessRule.Resource, _ operation: AccessRule.Operation, _ what: String,
    _ facts: inout ClusterFacts
  ) {
    if error.code.refusesPrincipal {
      let refusal = ClusterFacts.AccessRefusal(resource, operation)
      if !facts.refusals.contains(refusal) { facts.refusals.append(refusal) }
    } else {
      facts.unseen.append(.init(what, reason: error.message))
    }
  }

  /// Reads the record at each reader's position. Partitions without a waiting record are read at their end, which shows whether they
  /// may be read. The log is read for its newest record, too, and then watched for a new one.
  private func readOldest(_ consumer: KafkaConsumer, _ time: SurveyTime, _ facts: inout ClusterFacts) {
    let places = facts.progress.enumerated().map { index, progress in
      (index, progress.partition, min(max(progress.low, progress.next ?? progress.low), progress.high))
    }
    var starts = Dictionary(places.map { ($0.1, $0.2) }) { first, _ in first }
    let indices = Dictionary(places.map { ($0.1, $0.0) }) { first, _ in first }
    // A planner reads the state when it begins. Its end is as good as any place.
    if roles.contains(.planner), let first = facts.topics[settings.topics.state]?.partitions.first {
      let state = KafkaTopicPartition(topic: settings.topics.state, partition: first.id)
      if let ends = ends(of: state, consumer, time, &facts) { starts[state] = ends.high }
    }
    var times: [KafkaTopicPartition: Int64] = [:]
    let unread = read(starts, consumer, time.bound(Self.readTimeMax), &facts) { message in
      times[message.topicPartition] = message.timestampMilliseconds
      return true
    }
    for (partition, index) in indices where facts.progress[index].isKnown {
      facts.progress[index].waitingSince = times[partition]
    }
    if !unread.isEmpty {
      let names = unread.sorted().prefix(3).map(\.description).joined(separator: ", ")
      facts.unseen.append(.init("records of \(Self.count(unread.count)), such as \(names)", reason: Self.late))
    }
    guard roles.contains(.planner), isBrokersTime(facts) else { return }
    watchLog(consumer, time, &facts)
  }

  /// Whether the brokers set the time of the records of the log.
  private func isBrokersTime(_ facts: ClusterFacts) -> Bool {
    facts.configurations[settings.topics.log]?["message.timestamp.type"] == "LogAppendTime"
  }

  /// Reads the newest record of each log partition, and waits for a new one. Its time is that of the broker's clock.
  private func watchLog(_ consumer: KafkaConsumer, _ time: SurveyTime, _ facts: inout ClusterFacts) {
    let log = facts.progress.filter { $0.role == .planner && $0.high > $0.low }
    let starts = Dictionary(uniqueKeysWithValues: log.map { ($0.partition, $0.high - 1) })
    let ends = Dictionary(uniqueKeysWithValues: log.map { ($0.partition, $0.high) })
    var sample: ClusterFacts.ClockSample?
    read(starts, consumer, time.bound(Self.freshTimeMax), &facts, stopsAtEnd: false) { message in
      guard let broker = message.timestampMilliseconds else { return false }
      let isFresh = message.offset >= ends[message.topicPartition] ?? 0
      // One fresh record says more than the newest of the others.
      if isFresh || broker > sample?.brokerMilliseconds ?? .min {
        sample = ClusterFacts.ClockSample(
          brokerMilliseconds: broker, localMilliseconds: SurveyTime.wallMilliseconds, isFresh: isFresh)
      }
      return isFresh
    }
    facts.clock = sample
  }

  /// Finds the newest policy of each log partition, from the end backwards.
  private func findPolicies(_ consumer: KafkaConsumer, _ time: SurveyTime, _ facts: inout ClusterFacts) {
    let log = facts.progress.filter { $0.role == .planner && $0.high > $0.low }
    let limit = SurveyTime(min(Self.readTimeMax, time.left))
    var ends = Dictionary(uniqueKeysWithValues: log.map { ($0.partition, $0.high) })
    var found: [KafkaTopicPartition: KafkaMessage] = [:]
    for window in Self.policyWindows {
      var starts: [KafkaTopicPartition: Int64] = [:]
      for progress in log where found[progress.partition] == nil && ends[progress.partition] ?? 0 > progress.low {
        starts[progress.partition] = max(progress.low, progress.high - window)
      }
      let stops = ends
      guard !starts.isEmpty, !limit.isOver else { break }
      read(starts, consumer, limit.left, &facts) { message in
        if let value = message.value, LogRecord.isPolicy(value) { found[message.topicPartition] = message }
        return message.offset + 1 >= stops[message.topicPartition] ?? 0
      }
      for (partition, start) in starts { ends[partition] = start }
    }
    for (partition, policy) in found {
      facts.policies[partition.partition] = ClusterFacts.LoggedPolicy(
        offset: policy.offset, at: policy.timestampMilliseconds.map { Timestamp(milliseconds: $0) },
        reference: Self.reference(of: policy.value ?? []))
    }
  }

  /// Returns the policy of a record; nil if this release does not accept it.
  private static func reference(of value: [UInt8]) -> PolicyReference? {
    guard case .policy(let text)? = try? LogRecord(bytes: value).content else { return nil }
    return try? PolicyDocument(record: text, file: "the log").policy.reference
  }

  // MARK: Reading

  /// Reads partitions until each is done or at its end, or the time is over.
  ///
  /// - Parameters:
  ///   - starts: The offset to start from in each partition.
  ///   - consumer: The consumer, to which nothing is assigned.
  ///   - limit: The longest time.
  ///   - facts: Gets the permissions that are refused.
  ///   - stopsAtEnd: Whether a partition is done at its end. Otherwise all are done with the first of which `take` says so.
  ///   - take: Gets each record, and returns whether its partition is done.
  /// - Returns: The partitions that were not done in time.
  @discardableResult private func read(
    _ starts: [KafkaTopicPartition: Int64], _ consumer: KafkaConsumer, _ limit: Duration, _ facts: inout ClusterFacts,
    stopsAtEnd: Bool = true, _ take: (KafkaMessage) -> Bool
  ) -> Set<KafkaTopicPartition> {
    let time = SurveyTime(limit)
    var open = Set(starts.keys)
    do throws(KafkaError) {
      guard !open.isEmpty else { return [] }
      try consumer.assign(starts.mapValues { .at($0) })
      while !open.isEmpty, !time.isOver {
        let batch = try consumer.poll(maxMessages: 1000, timeout: .milliseconds(100))
        for message in batch.messages where open.contains(message.topicPartition) && take(message) {
          if stopsAtEnd { open.remove(message.topicPartition) } else { open = [] }
        }
        for event in batch.events {
          switch event {
          case .partitionEnd(let position): if stopsAtEnd { open.remove(position.partition) }
          case .error(let error) where error.code == .topicAuthorizationFailed:
            let topics = error.position.map { [$0.partition.topic] } ?? Set(open.map(\.topic)).filter(error.names)
            for topic in topics {
              note(error, AccessRule.Resource(.topic, topic), .read, topic, &facts)
              open = open.filter { $0.topic != topic }
            }
          case .error: break
          }
        }
      }
      try consumer.assign([KafkaTopicPartition: KafkaOffset]())
    } catch {
      facts.unseen.append(
        .init("the records of \(open.sorted().map(\.topic).first ?? "topics")", reason: error.message))
    }
    return open
  }

  private static func count(_ partitions: Int) -> String {
    partitions == 1 ? "1 partition" : "\(partitions) partitions"
  }
}

extension KafkaError {
  /// Whether the words about the error name a topic.
  fileprivate func names(_ topic: String) -> Bool { operation.contains(topic) || message.contains(topic) }
}

/// The time that a survey or a part of it may take.
struct SurveyTime {
  private let end: ContinuousClock.Instant

  /// Begins a time.
  ///
  /// - Parameter limit: Its length.
  init(_ limit: Duration) { end = .now + limit }

  /// The time that is left; zero when it is over.
  var left: Duration { max(.zero, end - .now) }
  /// Whether the time is over.
  var isOver: Bool { left == .zero }

  /// Returns a wait within the time.
  ///
  /// - Parameter wait: The longest wait.
  func bound(_ wait: Duration) -> Duration { min(wait, left) }

  /// The wall clock, in ms since 1970.
  static var wallMilliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
