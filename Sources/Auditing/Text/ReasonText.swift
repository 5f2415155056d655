public import Domain

/// What every reason means to a person, in one place: for audit answers, policy previews and documents.
public enum ReasonText {
  /// One sentence about one decision, with its numbers.
  public static func explanation(_ decision: Decision) -> String {
    let worth = Figure.decimal(decision.value)
    let price = Figure.decimal(decision.price)
    let kept = decision.until.map { "; kept until \(Figure.time($0))" } ?? (decision.final ? "" : "; kept")
    let left = decision.tokensLeft
    switch decision.reason {
    case .duplicate: return "the same event was decided before for this instance; that decision holds"
    case .staleEvent: return "the event is older than what is known of its subject, or than the rule's maxAge allows"
    case .noMatch: return "kind \(decision.kind) has no rule for this type of event"
    case .cosmetic: return "the rules give this event relevance 0: nobody would miss it"
    case .notVisible: return "what \(decision.kind) displays is the same as at the last reload, after rounding"
    case .noToken: return "the device has no push token that could reach this instance"
    case .tokenDead: return "APNs refused the device's token for good and no new one was registered"
    case .unsupportedOS: return "the device's OS version has no push that could reach this \(decision.surface.rawValue)"
    case .payloadTooLarge: return "the push would be larger than the 4,096 bytes that APNs takes"
    case .kindDisabled: return "the policy has switched kind \(decision.kind) off"
    case .appForeground: return "the app is in the foreground, where it reloads its widgets for free"
    case .reloadImminent: return "the widget's own timeline reloads shortly, for free"
    case .quietHours: return "quiet hours, and relevance \(Figure.decimal(decision.relevance)) is no exception\(kept)"
    case .minInterval: return "the last reload is too short ago for the minimum interval; worth \(worth)\(kept)"
    case .budgetInstance:
      return "the instance has \(Figure.tokens(left.instance)) left in this window; worth \(worth)\(kept)"
    case .budgetDevice: return "the device has \(Figure.tokens(left.device)) for a push left now; worth \(worth)\(kept)"
    case .budgetApp: return "the app has \(Figure.tokens(left.app)) left today; worth \(worth)\(kept)"
    case .reserveHeld:
      return "the \(Figure.tokens(left.instance)) left are a reserve for more relevant events;"
        + " this one has relevance \(Figure.decimal(decision.relevance))\(kept)"
    case .belowPrice:
      return "worth \(worth), a token was worth \(price)\(with(left.instance))\(kept)"
    case .belowFloor: return "worth \(worth), which is below the floor of what is kept"
    case .emitted: return "sent: worth \(worth), a token was worth \(price)\(with(left.instance))"
    case .emittedAfterDefer:
      return "sent after waiting: worth \(worth), a token was worth \(price)\(with(left.instance))"
    case .emittedCoalesced: return "sent with the push that a later event of this instance caused"
    case .emittedShared: return "shown by a push that another instance of the device paid for"
    case .superseded: return "a newer event took its place, or undid it, before a push was worth it"
    case .expired: return "lost its worth (\(worth) at the end) before a token was worth spending on it"
    case .freshened: return "the widget fetched its content by itself, so that it shows this already"
    case .emittedFree: return "told the Live Activity at priority 5, which is free and arrives when it suits the device"
    case .activityEnded: return "the Live Activity is over"
    case .alreadyStarted: return "a Live Activity of this subject runs on the device, or was started before"
    case .endedQuiet: return "the Live Activity was ended because its subject had gone quiet"
    case .instanceRemoved: return "the instance or its device was removed while this was waiting"
    }
  }

  /// What the person who runs the system could do about it, in general.
  public static func advice(_ reason: Reason) -> String {
    switch reason {
    case .duplicate: "nothing; a publisher that often repeats events may want to know"
    case .staleEvent: "look at the publisher's delay; raise the rule's maxAge if late events still matter"
    case .noMatch: "add a rule for the event type to the kind, or narrow the interests that bring it here"
    case .cosmetic: "raise the rule's base relevance if people should see this"
    case .notVisible: "nothing is lost; list more fields under displays, or round less, if it should be seen"
    case .noToken: "have the app register its push token; before OS 26 it needs its background token"
    case .tokenDead: "have the app register its new token the next time it runs"
    case .unsupportedOS: "register a background token, which older versions can be reached by"
    case .payloadTooLarge: "shorten what the push carries"
    case .kindDisabled: "enable the kind in the policy"
    case .appForeground: "nothing; if it is wrong, see that the app signals when it goes to the background"
    case .reloadImminent: "nothing; shorten imminentReload if waiting for the timeline is too slow"
    case .quietHours: "lower exceptRelevance or shorten quietHours if such events should wake people"
    case .minInterval: "lower the kind's minInterval, within what the platform tolerates"
    case .budgetInstance: "raise perDay, or the base price, so that tokens last the day"
    case .budgetDevice: "let kinds share pushes, or raise the profile's device rate if the platform tolerates it"
    case .budgetApp: "raise the app's perDay"
    case .reserveHeld: "lower the reserve's share or its aboveRelevance"
    case .belowPrice: "raise the rule's relevance, lengthen halfLife, or raise perDay so that a token costs less"
    case .belowFloor: "lower the kind's floor, or raise the rule's relevance"
    case .emitted, .emittedAfterDefer:
      "if it should not have been sent, lower the rule's relevance or raise the base price"
    case .emittedCoalesced, .emittedShared: "nothing; merging is how a budget goes far"
    case .superseded: "nothing; if the middle states matter too, raise their relevance"
    case .expired:
      "lengthen halfLife or maxAge, raise its relevance, lower price.base, or look at views: few look at some hours"
    case .freshened: "nothing; it cost no token"
    case .emittedFree: "nothing; raise the rule's relevance if it must arrive at once"
    case .activityEnded, .alreadyStarted: "nothing"
    case .endedQuiet: "lengthen quietEnd if its subjects pause for longer"
    case .instanceRemoved: "nothing"
    }
  }

  /// What would have changed the decision, where its own numbers say so.
  public static func counterfactual(_ decision: Decision) -> String? {
    switch decision.reason {
    case .belowPrice:
      let gap = decision.price - decision.value
      guard gap.isFinite, gap > 0 else { return nil }
      var text = "it would have been sent had it been worth \(Figure.decimal(gap)) more"
      if decision.value > 0, decision.relevance > 0, decision.events.count == 1 {
        // Alone on the instance its value is in proportion to its relevance.
        let needed = decision.relevance * decision.price / decision.value
        text +=
          needed <= 1
          ? ": with relevance ≥ \(Figure.decimal(needed)) instead of \(Figure.decimal(decision.relevance))"
          : decision.relevance >= 1
            ? "; relevance is 1 already: few look at that hour, or the base price is high"
            : "; not even relevance 1 would have been enough at that moment"
      }
      return text
    case .emitted, .emittedAfterDefer:
      let margin = decision.value - decision.price
      guard margin.isFinite, margin >= 0 else { return nil }
      return "it would have waited had it been worth \(Figure.decimal(margin)) less"
    case .budgetInstance, .budgetDevice, .budgetApp, .minInterval, .quietHours, .reserveHeld:
      guard decision.value >= decision.price, decision.price > 0 else { return nil }
      return "without this limit it would have been sent: worth \(Figure.decimal(decision.value)),"
        + " a token was worth \(Figure.decimal(decision.price))"
    default: return nil
    }
  }

  private static func with(_ left: Int?) -> String { left.map { " with \($0) left" } ?? "" }
}
