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

  /// Returns the change that would have led to another decision than the last of some; nil if it cannot be derived from them. If the event
  /// ended while it waited, it is the change by which it would not have waited.
  ///
  /// - Parameter decisions: The decisions about an event for an instance, oldest first.
  static func counterfactual(_ decisions: ArraySlice<Decision>) -> String? {
    guard let last = decisions.last else { return nil }
    guard [.expired, .superseded, .instanceRemoved].contains(last.reason) else { return counterfactual(last) }
    if let held = decisions.last(where: { $0.reason.holdsBack }), let words = waited(held, until: last) { return words }
    return last.reason == .expired ? "with a longer maxAge or halfLife it would have gone on waiting" : nil
  }

  /// Returns the change by which an event would not have waited when it was last held back; nil if it cannot be derived.
  private static func waited(_ held: Decision, until last: Decision) -> String? {
    let isLimit = held.reason != .belowPrice
    let unknown = isLimit ? "without this limit its worth and its price would have decided" : nil
    guard let words = counterfactual(held) ?? unknown else { return nil }
    var end = ""
    if isLimit, let until = held.until {
      end =
        until < last.at ? "; the limit was over at \(Figure.time(until))" : "; the limit lasted longer than the event"
    }
    return "when it last waited, at \(Figure.time(held.at)) (\(held.reason.rawValue)), \(words)\(end)"
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
    case .needless, .lost: return counterfactual(decision.reason, decision.surface)
    case .sentFree, .sentAlong, .onCommands: return nil
    }
  }

  /// Returns the change by which a push that was never weighed would have been; nil if there is none worth to name.
  private static func counterfactual(_ reason: Reason, _ surface: Surface) -> String? {
    let weighed = "its worth and its price would have decided"
    switch reason {
    case .noToken: return "with a push token that reaches the instance, \(weighed)"
    case .tokenDead: return "with a token that APNs takes, registered before, \(weighed)"
    case .unsupportedOS:
      return surface == .widget
        ? "with OS 26, or with a background token on an older one, \(weighed)"
        : "with a newer system on the device, \(weighed)"
    case .payloadTooLarge: return "with a smaller payload (APNs takes 4,096 bytes, 5,120 to a channel), \(weighed)"
    case .contentIncomplete: return "with all known that its templates require, \(weighed)"
    case .kindDisabled: return "with the kind switched on in the policy, \(weighed)"
    case .noMatch: return "with a rule of the kind that holds for the event, \(weighed)"
    case .cosmetic: return "with a relevance above 0, \(weighed)"
    case .notVisible: return "had it changed something that the screen lacks, \(weighed)"
    case .staleEvent: return "had it come before the newer event and within the rule's maxAge, \(weighed)"
    case .appForeground: return "with the app in the background, \(weighed)"
    case .reloadImminent: return "had the widget's own reload been further off, \(weighed)"
    default: return nil
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
