import Foundation
import Installation
import KafkaClient
import Operating
import Synchronization

/// Reads the policy records of the log for pages, on a thread of its own. May be used from any thread.
///
/// As with `ClusterWatch`, a page never waits. The first reading goes through the last records of a partition, and each later one only
/// through those that came since, so the records that a console has seen stay known while it runs.
final class PolicyWatch: Sendable {
  private struct State {
    var trail: PolicyLog.PolicyTrail?
    var failure: String?
    var readAt: ContinuousClock.Instant?
    var isReading = false
    var isStale = false
  }

  private let state = Mutex(State())
  private let settings: ClusterSettings

  /// Makes a watch that has not read yet.
  ///
  /// - Parameter settings: The log, and how to reach Kafka.
  init(_ settings: ClusterSettings) { self.settings = settings }

  /// Returns the policy records that are known, and the reason why the last reading failed; nil for both before the first one has ended.
  /// Starts another reading if the last one is old.
  func trail() -> (trail: PolicyLog.PolicyTrail?, failure: String?) {
    let (trail, failure, reads) = state.withLock { state in
      let age = state.readAt.map { ($0.duration(to: .now)) / .seconds(1) } ?? .infinity
      let reads = !state.isReading && (state.isStale || age > ClusterWatch.freshSeconds)
      if reads { (state.isReading, state.isStale) = (true, false) }
      return (state.trail, state.failure, reads)
    }
    if reads {
      let thread = Thread { [self] in read(trail) }
      thread.name = "console-policies"
      thread.start()
    }
    return (trail, failure)
  }

  /// Makes the next page start another reading.
  func forget() { state.withLock { $0.isStale = true } }

  private func read(_ known: PolicyLog.PolicyTrail?) {
    var (trail, failure) = (known, nil as String?)
    do throws(KafkaError) {
      trail = try PolicyLog(settings: settings).history(continuing: known)
    } catch {
      failure = "the log cannot be read: \(error)"
    }
    state.withLock { state in
      (state.trail, state.failure, state.readAt, state.isReading) = (trail, failure, .now, false)
    }
  }
}
