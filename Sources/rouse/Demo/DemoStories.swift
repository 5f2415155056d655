import Domain
import Synchronization

/// Picks three decisions of a run that are worth telling: one that waited and was sent, one that rode along with another
/// widget's push, and one that was not sent.
final class DemoStories: Sendable {
  struct Story: Sendable {
    var title: String
    var device: String
    var instance: String
    var event: String
  }

  private let found = Mutex<[Reason: Decision]>([:])

  /// Keeps the best decision of each reason; the id settles ties so that the
  /// choice does not hang on the order of arrival.
  func see(_ decision: Decision) {
    guard decision.final, Self.titles.contains(where: { $0.reason == decision.reason }) else { return }
    found.withLock { known in
      guard let best = known[decision.reason] else {
        known[decision.reason] = decision
        return
      }
      if (Self.interest(decision), best.decision) > (Self.interest(best), decision.decision) {
        known[decision.reason] = decision
      }
    }
  }

  /// What was sent is told best by something that mattered, what was not by something that mattered a little.
  private static func interest(_ decision: Decision) -> Double {
    decision.reason == .expired ? -abs(decision.relevance - 0.3) : decision.relevance
  }

  /// In the order of preference; the first three that occurred.
  private static let titles: [(reason: Reason, title: String)] = [
    (.emittedAfterDefer, "it waited until a token was worth spending"),
    (.emittedShared, "another widget of the device paid for the push"),
    (.expired, "why it was NOT sent: it lost its worth before a token was worth spending"),
    (.notVisible, "why it was NOT sent: nobody could have seen a difference"),
    (.emittedCoalesced, "several changes went out as one"),
  ]

  var chosen: [Story] {
    found.withLock { known in
      Self.titles.compactMap { reason, title in
        known[reason].map { Story(title: title, device: $0.device, instance: $0.instance, event: $0.event) }
      }.prefix(3).map { $0 }
    }
  }
}
