public import Domain
import Foundation

/// The sentences that explain a decision to a person. The sentence for each reason is in `Reason`; the
/// phrases about worth and price, and what would have changed the decision, are here.
public enum ReasonText {
  /// Returns one sentence about one decision, with its numbers.
  public static func explanation(_ decision: Decision) -> String {
    let left = decision.tokensLeft
    let worth = worth(decision)
    return decision.reason.explanation(
      Reason.Figures(
        kind: decision.kind.text, surface: decision.surface.rawValue, relevance: Figure.decimal(decision.relevance),
        worth: worth,
        worthAndPrice: decision.isWeighed
          ? "\(worth); \(price(decision))" + (left.instance.map { ", \(Figure.tokens($0)) left" } ?? "") : worth,
        instanceTokens: Figure.tokens(left.instance), deviceTokens: Figure.tokens(left.device),
        appTokens: Figure.tokens(left.app),
        kept: decision.until.map { "; examined again by \(Figure.time($0))" } ?? (decision.final ? "" : "; kept")))
  }

  /// Returns what the push was worth and why: the looks, and how wrong the screen was.
  private static func worth(_ decision: Decision) -> String {
    guard decision.isWeighed else { return "its worth was not weighed" }
    let parts =
      "\(Figure.looks(decision.looks)) in the next 20 minutes, the screen \(Figure.percent(decision.wrong)) wrong"
    guard decision.worthOfOthers > 0 else { return "worth \(Figure.decimal(decision.value)): \(parts)" }
    return "worth \(Figure.decimal(decision.value)) with the other widgets that the push would reload,"
      + " \(Figure.decimal(decision.worth)) for this one: \(parts)"
  }

  /// Returns the price of the push. It is 0 while tokens suffice for everything that is expected.
  private static func price(_ decision: Decision) -> String {
    let price = Figure.decimal(decision.price)
    return decision.worthOfOthers > 0 ? "the push costs \(price)" : "a token costs \(price)"
  }

  /// Returns the change that would have led to another decision; nil if it cannot be derived from the decision.
  public static func counterfactual(_ decision: Decision) -> String? {
    switch decision.reason.outcome {
    case .heldBack where decision.reason == .belowPrice: return belowPrice(decision)
    case .heldBack:
      guard decision.isWeighed, decision.value >= decision.price else { return nil }
      return
        "without this limit it would have been sent: worth \(Figure.decimal(decision.value)), and \(price(decision))"
    case .sent:
      let margin = decision.value - decision.price
      // Without a price, even a push that is worth nothing would have been sent.
      guard margin.isFinite, margin >= 0, decision.price > 0 else { return nil }
      return "it would have waited had it been worth \(Figure.decimal(margin)) less"
    case .sentFree, .sentAlong, .needless, .lost, .onCommands: return nil
    }
  }

  private static func belowPrice(_ decision: Decision) -> String? {
    let gap = decision.price - decision.value
    guard gap.isFinite, gap > 0 else { return nil }
    let text = "it would have been sent had it been worth \(Figure.decimal(gap)) more"
    guard decision.worth > 0 else {
      return decision.looks > 0 || !decision.isWeighed ? text : text + ": nobody is expected to look at that hour"
    }
    let factor = (decision.worth + gap) / decision.worth
    let looks = "with \(Figure.looks(decision.looks * factor)) instead of \(Figure.decimal(decision.looks))"
    // The worth grows with the power 1.5 of the distance.
    let wrong = decision.wrong * pow(factor, 2 / 3)
    if wrong <= 1 {
      return "\(text): \(looks), or with the screen \(Figure.percent(wrong)) wrong"
    }
    return "\(text): \(looks); not even a screen that is all wrong would have been enough"
  }

  /// Returns the advice on a story by its last reason. If the event expired while it waited, it is the advice on the
  /// reason for waiting.
  package static func advice(_ story: WhyAnswer.Story, _ reason: Reason) -> String {
    let waited = story.steps.last { $0.decision.reason.holdsBack }
    guard reason == .expired, let waited else { return reason.advice }
    return "it waited because of \(waited.decision.reason.rawValue): \(waited.decision.reason.advice)"
  }
}
