import Domain
import Foundation
import Installation
import KafkaClient
import Operating
import Policies
import Synchronization

/// Looks at the cluster for pages, on a thread of its own, because an answer of a cluster may take long. May be used from any thread.
///
///     idle ──a page asks, and what is known is older than `freshSeconds`──► looking ──► idle
///
/// A page never waits: it shows what was known before, and says how old that is.
final class ClusterWatch: Sendable {
  /// The age in seconds from which on a page that asks starts another look.
  static let freshSeconds = 10.0
  /// The most dead letters that are kept.
  /// - Beyond: older ones are not shown.
  static let lettersMax = 200

  private struct State {
    var view: ClusterView?
    var lookedAt: ContinuousClock.Instant?
    var isLooking = false
    var isStale = false
    /// The number of policies that were applied. A look that began before the last of them may have seen the one from before.
    var policies = 0

    /// Keeps a view, unless a policy was applied since its look began.
    mutating func keep(_ view: ClusterView, since policies: Int) {
      guard policies == self.policies else { return }
      self.view = view
      lookedAt = .now
    }
  }

  private let state = Mutex(State())
  private let settings: ClusterSettings
  private let format: StateFormat
  private let now: @Sendable () -> Timestamp

  /// Makes a watch that has not looked yet.
  ///
  /// - Parameters:
  ///   - settings: The cluster.
  ///   - format: The format of the records of `rouse.state`.
  ///   - now: The wall clock.
  init(_ settings: ClusterSettings, _ format: StateFormat, now: @escaping @Sendable () -> Timestamp) {
    self.settings = settings
    self.format = format
    self.now = now
  }

  /// Returns what is known; nil before the first look has ended. Starts a look if what is known is old.
  ///
  /// - Parameter positions: The offsets that the audit store and the planners of this process have reached.
  func view(_ positions: [KafkaTopicPartition: Int64]) -> ClusterView? {
    let (view, looks, policies) = state.withLock { state -> (ClusterView?, Bool, Int) in
      let age = state.lookedAt.map { ($0.duration(to: .now)) / .seconds(1) } ?? .infinity
      let looks = !state.isLooking && (state.isStale || age > Self.freshSeconds)
      if looks { (state.isLooking, state.isStale) = (true, false) }
      return (state.view, looks, state.policies)
    }
    if looks {
      let thread = Thread { [self] in
        let view = look(positions)
        state.withLock { state in
          state.keep(view, since: policies)
          state.isLooking = false
        }
      }
      thread.name = "console-cluster"
      thread.start()
    }
    return view
  }

  /// Returns what is known, if it is fresh. Otherwise a look is started, and the calling thread asks for the part that it needs, which takes a
  /// fraction of the time of a look.
  ///
  /// - Parameters:
  ///   - positions: The offsets that the audit store and the planners of this process have reached.
  ///   - part: Asks for the part.
  func current(
    _ positions: [KafkaTopicPartition: Int64], _ part: (ClusterSurvey) throws(KafkaError) -> ClusterFacts
  ) -> ClusterView {
    let fresh = state.withLock { state -> ClusterView? in
      let age = state.lookedAt.map { ($0.duration(to: .now)) / .seconds(1) } ?? .infinity
      return !state.isStale && age <= Self.freshSeconds ? state.view : nil
    }
    if let fresh { return fresh }
    _ = view(positions)
    var view = ClusterView(at: now())
    do throws(KafkaError) { view.facts = try part(survey(positions)) } catch {
      view.failures.append("the cluster does not answer: \(error)")
    }
    return view
  }

  /// Makes the next page start another look.
  func forget() { state.withLock { $0.isStale = true } }

  /// Makes the next page start another look, and keeps pages from showing the policy that was in force before.
  func forgetPolicy() {
    state.withLock { state in
      state.view = nil
      state.isStale = true
      state.policies += 1
    }
  }

  private func look(_ positions: [KafkaTopicPartition: Int64]) -> ClusterView {
    var view = ClusterView(at: now())
    do throws(KafkaError) {
      let facts = try survey(positions).run()
      view.facts = facts
      view.failures = facts.unseen.map { "\($0.what): \($0.reason)" }
      view.failures += facts.refusals.map {
        "the cluster refuses \($0.operation.rawValue) on the \($0.resource.kind.rawValue.lowercased()) \($0.resource.name); rouse topics acls --role console lists the permissions"
      }
      view.policy = try policy(facts, &view.failures)
    } catch {
      view.failures.append("the cluster does not answer: \(error)")
      return view
    }
    do throws(KafkaError) {
      view.letters = try DeadLetterQueue(settings: settings).newest(Self.lettersMax)
    } catch {
      view.failures.append("the dead letters cannot be read: \(error)")
    }
    return view
  }

  /// Prepares a survey.
  private func survey(_ positions: [KafkaTopicPartition: Int64]) throws(KafkaError) -> ClusterSurvey {
    // The number of partitions is the operator's choice, so the plan takes over that of the log.
    let topics = try KafkaAdmin(settings.kafka).describeCluster(timeout: .seconds(5)).topics
    let partitions = topics.first { $0.name == settings.topics.log }?.partitions.count ?? 0
    let plan = TopicPlan.make(
      settings.topics, partitions: max(1, partitions), replicas: nil,
      replayTimestamps: settings.timestamps == .event)
    return ClusterSurvey(
      settings: settings, state: format, plan: plan, roles: [.intake, .planner, .audit], positions: positions)
  }

  /// Reads the newest policy of the log.
  private func policy(_ facts: ClusterFacts, _ failures: inout [String]) throws(KafkaError) -> PolicyDocument? {
    guard let newest = facts.newestPolicy else { return nil }
    let partition = KafkaTopicPartition(topic: settings.topics.log, partition: newest.partition)
    let record = try DeadLetterQueue(settings: settings).record(at: KafkaPosition(partition, offset: newest.offset))
    do {
      guard case .policy(let text) = try LogRecord.parts(of: record.value ?? []).content else { return nil }
      return try PolicyDocument(record: text, file: "policy.yaml")
    } catch {
      failures.append("the policy of the log cannot be read: \(error)")
      return nil
    }
  }
}
