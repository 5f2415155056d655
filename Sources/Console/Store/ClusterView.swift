import Auditing
import Domain
import Installation
import KafkaClient
import Operating
import Policies
import Serving

/// The parts of a cluster that the console's pages show, as they were at one time.
struct ClusterView: Sendable {
  /// The wall clock when it was looked at.
  var at: Timestamp
  /// The topics and the progress of the readers; nil if the cluster did not answer.
  var facts: ClusterFacts?
  /// The policy in force, by the newest record of the log; nil if there is none, or it could not be read.
  var policy: PolicyDocument?
  /// The newest dead letters, newest first; nil if they could not be read.
  var letters: [DeadLetterRecord]?
  /// The reasons why something is missing.
  var failures: [String] = []
}

extension ConsoleContext {
  /// Returns what is known of the cluster; nil before the first look has ended.
  ///
  /// - Throws: `AuditError` if the positions of the store cannot be read. A store that is not there yet has none.
  func clusterView() throws -> ClusterView? { watch.view(try knownPositions()) }

  /// Returns what the brokers tell now, or told some seconds ago.
  ///
  /// - Parameter part: Asks for the part that is needed, if nothing fresh is known.
  /// - Throws: `Problem` if they do not answer.
  func clusterFacts(
    _ part: (ClusterSurvey) throws(KafkaError) -> ClusterFacts
  ) throws -> (facts: ClusterFacts, at: Timestamp) {
    let view = watch.current(try knownPositions(), part)
    guard let facts = view.facts else {
      throw Problem(
        .unavailable,
        "\(view.failures.first ?? "the cluster does not answer"); check kafka.bootstrapServers, and that the brokers run",
        retryAfterSeconds: 5)
    }
    return (facts, view.at)
  }

  /// Returns the offsets that readers have told by themselves: the audit store, and the planners of this process, which commit theirs in
  /// transactions that an embedded broker does not tell.
  private func knownPositions() throws -> [KafkaTopicPartition: Int64] {
    var positions = try storedPositions()
    let log = settings.cluster.topics.log
    for partition in settings.process?.state().partitions ?? [] {
      positions[KafkaTopicPartition(topic: log, partition: partition.number)] = partition.next
    }
    return positions
  }

  /// Returns the offsets that the audit store has reached; none without a store, whose reason the page about health shows.
  private func storedPositions() throws -> [KafkaTopicPartition: Int64] {
    let store: AuditStore
    do throws(Problem) { store = try self.store() } catch { return [:] }
    var positions: [KafkaTopicPartition: Int64] = [:]
    let names = settings.cluster.topics
    for position in try store.positions() {
      let topic = position.topic == .decisions ? names.decisions : names.commands
      positions[KafkaTopicPartition(topic: topic, partition: position.partition)] = position.next
    }
    return positions
  }
}

extension ClusterFacts {
  /// The records that wait for readers whose positions are known. Markers of transactions count, too.
  var waiting: Int64 { progress.reduce(0) { $0.addingSaturating($1.waiting) } }
}

extension ClusterView {
  /// The seconds after which a page without a view is asked for anew.
  static let retrySeconds = 2

  /// Returns the section that stands for what is not known yet, or says how old and how complete it is.
  static func state(_ view: ClusterView?, _ now: Timestamp) -> PageSection {
    guard let view else {
      return PageSection(
        heading: "Kafka",
        paragraphs: [
          [
            "The brokers are being asked. This page shows the answer in some seconds; ",
            PageCell("load it now", link: ""), ".",
          ]
        ])
    }
    let age = max(0, (now - view.at).microseconds / 1_000_000)
    var section = PageSection(
      heading: "Kafka",
      paragraphs: [
        [
          PageCell(
            "As the brokers told \(age) s ago. Loading the page anew asks them again after \(Int(ClusterWatch.freshSeconds)) s.",
            tone: .dim)
        ]
      ])
    section.list = view.failures.map { [PageCell("Not known: ", tone: .bad), PageCell($0)] }
    return section
  }
}
