public import Domain

/// The sentences that explain a decision to a person. Their words come from `Reason`; this type adds the numbers.
public enum ReasonText {
  /// Returns one sentence about one decision, with its numbers.
  public static func explanation(_ decision: Decision) -> String {
    let left = decision.tokensLeft
    return decision.reason.explanation(
      Reason.Figures(
        kind: decision.kind.text, surface: decision.surface.rawValue, relevance: Figure.decimal(decision.relevance),
        worth: Figure.decimal(decision.value), price: Figure.decimal(decision.price),
        instanceTokens: Figure.tokens(left.instance), deviceTokens: Figure.tokens(left.device),
        appTokens: Figure.tokens(left.app), withTokensLeft: left.instance.map { " with \($0) left" } ?? "",
        kept: decision.until.map { "; kept until \(Figure.time($0))" } ?? (decision.final ? "" : "; kept")))
  }

  /// Returns the change that would have led to another decision; nil if it cannot be derived from the decision.
  public static func counterfactual(_ decision: Decision) -> String? {
    switch decision.reason.outcome {
    case .heldBack where decision.reason == .belowPrice: return belowPrice(decision)
    case .heldBack:
      guard decision.value >= decision.price, decision.price > 0 else { return nil }
      return "without this limit it would have been sent: worth \(Figure.decimal(decision.value)),"
        + " a token was worth \(Figure.decimal(decision.price))"
    case .sent:
      let margin = decision.value - decision.price
      guard margin.isFinite, margin >= 0 else { return nil }
      return "it would have waited had it been worth \(Figure.decimal(margin)) less"
    case .sentFree, .sentAlong, .needless, .lost, .onCommands: return nil
    }
  }

  private static func belowPrice(_ decision: Decision) -> String? {
    let gap = decision.price - decision.value
    guard gap.isFinite, gap > 0 else { return nil }
    let text = "it would have been sent had it been worth \(Figure.decimal(gap)) more"
    guard decision.value > 0, decision.relevance > 0, decision.events.count == 1 else { return text }
    // The value of an event that waits alone on its instance is proportional to its relevance.
    let needed = decision.relevance * decision.price / decision.value
    if needed <= 1 {
      return text
        + ": with relevance ≥ \(Figure.decimal(needed)) instead of \(Figure.decimal(decision.relevance))"
    }
    return decision.relevance >= 1
      ? text + "; relevance is 1 already: few look at that hour, or the base price is high"
      : text + "; not even relevance 1 would have been enough at that moment"
  }
}
