import Domain
import Synchronization

/// Picks three decisions of a run to explain: one that waited and was sent, one that shared another widget's push, and one
/// that was not sent. It may be used from any thread.
final class DemoStories: Sendable {
  /// A question to the audit store about one of these decisions, and the title above the answer.
  struct StoryQuestion: Sendable {
    var title: String
    var device: Identifier
    var instance: Identifier
    var event: Identifier
  }

  private let found = Mutex<[Reason: Decision]>([:])

  /// Looks at a decision and keeps the best one of each reason. The decision's id breaks ties, so the choice does not
  /// depend on the order of arrival.
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

  /// Returns how well a decision serves as an example. A good example of a push was relevant; a good example of an expired
  /// change was a little relevant.
  private static func interest(_ decision: Decision) -> Double {
    decision.reason == .expired ? -abs(decision.relevance - 0.3) : decision.relevance
  }

  /// The reasons to explain, in the order of preference.
  private static let titles: [(reason: Reason, title: String)] = [
    (.emittedAfterDefer, "it waited, and was sent when a push was possible and worth its price"),
    (.emittedShared, "another widget of the device paid for the push"),
    (.expired, "why it was NOT sent: it was out of date before a push was possible and worth its price"),
    (.notVisible, "why it was NOT sent: nobody could have seen a difference"),
    (.emittedCoalesced, "several changes went out as one"),
  ]

  /// The first three reasons of the list that occurred.
  var chosen: [StoryQuestion] {
    found.withLock { known in
      Self.titles.compactMap { reason, title in
        known[reason].map { StoryQuestion(title: title, device: $0.device, instance: $0.instance, event: $0.event) }
      }.prefix(3).map { $0 }
    }
  }
}
