/// The reason for a decision. The cases are listed in the order in which the planner checks them; the first check that holds is
/// the reason. Some are checked elsewhere: `awaitingToken` first, `activityEnded` and `alreadyStarted` before anything is sent,
/// the size of a background push when it is weighed, and what the body of a Live Activity's push needs when it is made. A code
/// never changes its meaning.
///
/// This file is the one place that describes reasons: stored numbers, the reference page, the audit's texts and the counts of
/// reports follow from it. Tests compare the schemas and the documentation with it.
public enum Reason: String, Sendable, CaseIterable {
  case duplicate = "DUPLICATE"
  case staleEvent = "STALE_EVENT"
  case noMatch = "NO_MATCH"
  case cosmetic = "COSMETIC"
  case notVisible = "NOT_VISIBLE"
  case noToken = "NO_TOKEN"
  case tokenDead = "TOKEN_DEAD"
  case unsupportedOS = "UNSUPPORTED_OS"
  case payloadTooLarge = "PAYLOAD_TOO_LARGE"
  case contentIncomplete = "CONTENT_INCOMPLETE"
  case kindDisabled = "KIND_DISABLED"
  case appForeground = "APP_FOREGROUND"
  case reloadImminent = "RELOAD_IMMINENT"
  case quietHours = "QUIET_HOURS"
  case minInterval = "MIN_INTERVAL"
  case budgetInstance = "BUDGET_INSTANCE"
  case budgetDevice = "BUDGET_DEVICE"
  case budgetApp = "BUDGET_APP"
  case reserveHeld = "RESERVE_HELD"
  case belowPrice = "BELOW_PRICE"
  case emitted = "EMITTED"
  case emittedAfterDefer = "EMITTED_AFTER_DEFER"
  case emittedCoalesced = "EMITTED_COALESCED"
  case emittedShared = "EMITTED_SHARED"
  case emittedFree = "EMITTED_FREE"
  case activityEnded = "ACTIVITY_ENDED"
  case alreadyStarted = "ALREADY_STARTED"
  case awaitingToken = "AWAITING_TOKEN"
  case dismissed = "DISMISSED"
  case endedQuiet = "ENDED_QUIET"
  case caughtUp = "CAUGHT_UP"
  case superseded = "SUPERSEDED"
  case expired = "EXPIRED"
  case freshened = "FRESHENED"
  case instanceRemoved = "INSTANCE_REMOVED"

  /// The outcome for an event that ends, or waits, with a reason.
  public enum Outcome: Sendable {
    /// A command goes out and is charged.
    case sent
    /// A command goes out at priority 5, which is not charged.
    case sentFree
    /// The event is sent with a command that something else caused.
    case sentAlong
    /// The event waits. A start of a Live Activity does not wait: it is suppressed for the same reason.
    case heldBack
    /// The event is suppressed, and nothing is lost: there is nothing to show, or something else shows it.
    case needless
    /// The event is suppressed, and a visible change is not shown.
    case lost
    /// Only commands carry this reason. No decision has it.
    case onCommands
  }

  /// The numbers of one decision, already formatted for people. `explanation(_:)` puts them into its sentence.
  public struct Figures: Sendable {
    /// The name of the kind.
    public var kind: String
    /// The name of the surface.
    public var surface: String
    /// The relevance of the event.
    public var relevance: String
    /// The worth with its parts: `worth 0.41: 0.8 looks in the next 20 minutes, the screen 64 % wrong`.
    public var worth: String
    /// The worth with its parts, the price, and the tokens that are left: `worth …; a token costs 0.07, 3 tokens left`.
    public var worthAndPrice: String
    /// The tokens that the instance has left, with the noun: `3 tokens`.
    public var instanceTokens: String
    /// The tokens that the device has left, with the noun.
    public var deviceTokens: String
    /// The tokens that the app has left, with the noun.
    public var appTokens: String
    /// The end of the sentence, which tells what happens to the event next: `; examined again by …`, `; kept`, or
    /// nothing for a final decision.
    public var kept: String

    /// Creates the figures of one decision.
    public init(
      kind: String, surface: String, relevance: String, worth: String, worthAndPrice: String, instanceTokens: String,
      deviceTokens: String, appTokens: String, kept: String
    ) {
      self.kind = kind
      self.surface = surface
      self.relevance = relevance
      self.worth = worth
      self.worthAndPrice = worthAndPrice
      self.instanceTokens = instanceTokens
      self.deviceTokens = deviceTokens
      self.appTokens = appTokens
      self.kept = kept
    }
  }
}

extension Reason {
  /// The number of the reason in files and in the planner's state, and the outcome for the event. No number is
  /// 0, and none is ever reused for another reason.
  private var entry: (number: UInt8, outcome: Outcome) {
    switch self {
    case .duplicate: (1, .needless)
    case .staleEvent: (2, .needless)
    case .noMatch: (3, .needless)
    case .cosmetic: (4, .needless)
    case .notVisible: (5, .needless)
    case .noToken: (6, .lost)
    case .tokenDead: (7, .lost)
    case .unsupportedOS: (8, .lost)
    case .payloadTooLarge: (9, .lost)
    case .contentIncomplete: (33, .lost)
    case .kindDisabled: (10, .lost)
    case .appForeground: (11, .needless)
    case .reloadImminent: (12, .needless)
    case .quietHours: (13, .heldBack)
    case .minInterval: (14, .heldBack)
    case .budgetInstance: (15, .heldBack)
    case .budgetDevice: (16, .heldBack)
    case .budgetApp: (17, .heldBack)
    case .reserveHeld: (18, .heldBack)
    case .belowPrice: (19, .heldBack)
    case .emitted: (20, .sent)
    case .emittedAfterDefer: (21, .sent)
    case .emittedCoalesced: (22, .sentAlong)
    case .emittedShared: (23, .sentAlong)
    case .emittedFree: (28, .sentFree)
    case .activityEnded: (29, .needless)
    case .alreadyStarted: (30, .needless)
    case .awaitingToken: (34, .needless)
    case .dismissed: (35, .needless)
    case .endedQuiet: (31, .onCommands)
    case .caughtUp: (32, .onCommands)
    case .superseded: (24, .needless)
    case .expired: (25, .lost)
    case .freshened: (26, .needless)
    case .instanceRemoved: (27, .lost)
    }
  }

  /// The meaning of the reason in a sentence or two, for the reference page.
  public var meaning: String {
    switch self {
    case .duplicate: "The same event was decided before. That decision holds, so this one is not final."
    case .staleEvent:
      "The event is older than the newest event of its subject and type, or older than the rule's `maxAge`."
    case .noMatch:
      "No rule of the kind holds for the event: it has none for the type, or the conditions (`when`) are not met."
    case .cosmetic: "The rules give the event relevance 0."
    case .notVisible:
      "The event makes no difference to what the kind displays: it changes nothing of it, or the screen shows it already, after rounding."
    case .noToken: "No push token of the device could reach the instance."
    case .tokenDead: "APNs refused the token for good, and the device has not registered a new one."
    case .unsupportedOS:
      "The system is too old for the push: a widget token before OS 26 without a background token, a control, or a start; or it takes no pushes to Live Activities, as all but iOS and iPadOS."
    case .payloadTooLarge:
      "The push would be larger than the platform takes (APNs: 4,096 bytes, 5,120 to a channel). `rouse plan` names the members that make it so."
    case .contentIncomplete:
      "No event has said yet what the Live Activity requires: a member of its templates with `required`, or what the alert of a start names."
    case .kindDisabled: "The policy has switched the kind off."
    case .appForeground: "The app is in the foreground, where it reloads its widgets for free."
    case .reloadImminent: "The widget's own timeline reloads shortly, for free."
    case .quietHours:
      "The quiet hours of the policy last where the device is, and the event is not relevant enough to be an exception."
    case .minInterval: "The last reload was less than the minimum interval ago."
    case .budgetInstance: "The widget has no token left in its window, or the control cannot be pushed now."
    case .budgetDevice: "The device cannot be pushed now: its rate is used up."
    case .budgetApp: "The app has no tokens left today."
    case .reserveHeld: "The tokens that are left are kept for more relevant events."
    case .belowPrice: "A reload would set right fewer looks than its tokens cost now."
    case .emitted: "Sent because of this event."
    case .emittedAfterDefer: "Sent after it had waited."
    case .emittedCoalesced:
      "Went along with a push to the same instance: one that a later event caused, or one that was made at the same instant."
    case .emittedShared: "Went along with a push that another instance of the device caused."
    case .emittedFree: "Told a Live Activity at priority 5, which is free."
    case .activityEnded: "The Live Activity is over."
    case .alreadyStarted: "A Live Activity of the subject runs on the device, or was started before."
    case .awaitingToken:
      "A Live Activity of the subject was started by push, and the device has not registered its token yet. The registration is answered with the newest content, or with the end."
    case .dismissed: "The person has removed the Live Activity of the subject, so it is not started again in this run."
    case .endedQuiet: "The Live Activity was ended because its subject had gone quiet."
    case .caughtUp:
      "Sent without an event: the screen was wrong about events that had ended. No push could reach it, a push failed, its kind was switched off, its app had left the foreground unnoticed, or a Live Activity has a new token."
    case .superseded: "What the event announced was undone, or a newer event took its place, while it waited."
    case .expired: "It passed its `maxAge`, or lost interest by its `halfLife`, while it waited."
    case .freshened: "A signal says that the widget shows the newest content already."
    case .instanceRemoved: "The instance or its device was removed while it waited."
    }
  }

  /// General advice to the person who runs the system, for decisions with this reason.
  public var advice: String {
    switch self {
    case .duplicate: "nothing; a publisher that often repeats events may want to know"
    case .staleEvent: "look at the publisher's delay; if late events still matter, raise the rule's maxAge"
    case .noMatch:
      "add a rule for the event to the kind, look at the conditions of the rules it has, or narrow the interests"
    case .cosmetic: "raise the rule's base relevance if people should see this"
    case .notVisible: "nothing is lost; list more fields under displays, or round less, if it should be seen"
    case .noToken: "have the app register its push token; before OS 26 it needs its background token"
    case .tokenDead: "have the app register its new token the next time it runs"
    case .unsupportedOS: "register a background token, which older versions can be reached by"
    case .payloadTooLarge: "shorten what the push carries"
    case .contentIncomplete:
      "have the publisher send the field with the first event of a subject, or give the member a default"
    case .kindDisabled: "enable the kind in the policy"
    case .appForeground: "nothing; if it is wrong, see that the app signals when it goes to the background"
    case .reloadImminent: "nothing; shorten imminentReload if waiting for the timeline is too slow"
    case .quietHours: "lower exceptRelevance or shorten quietHours if such events should wake people"
    case .minInterval: "lower the kind's minInterval, within what the platform tolerates"
    case .budgetInstance: "raise budget.perDay, within what the platform tolerates"
    case .budgetDevice: "let kinds share pushes, or raise the profile's device rate if the platform tolerates it"
    case .budgetApp: "raise the app's perDay"
    case .reserveHeld: "lower the reserve's share or its aboveRelevance"
    case .belowPrice:
      "raise budget.perDay so that a token costs less, raise the weight of what displays lists or the relevance of news,"
        + " or correct views if more people look at that hour"
    case .emitted, .emittedAfterDefer:
      "if it should not have been sent, lower the weight of what displays lists, or the rule's relevance"
    case .emittedCoalesced: "nothing; merging is how a budget goes far"
    case .emittedShared: "nothing; merging is how a budget goes far"
    case .emittedFree: "nothing; raise the rule's relevance if it must arrive at once"
    case .activityEnded: "nothing"
    case .alreadyStarted: "nothing"
    case .awaitingToken:
      "nothing; if it lasts, see that the app registers the activity with its token (`rouse audit zombies` lists those)"
    case .dismissed: "nothing; state restartAfterDismissal if the subject may be started again after a time"
    case .endedQuiet: "lengthen quietEnd if its subjects pause for longer"
    case .caughtUp: "nothing; look for NO_TOKEN, TOKEN_DEAD and refused pushes of the device if it happens often"
    case .superseded: "nothing; if the middle states matter too, raise their relevance"
    case .expired:
      "look at the reason for which it waited, and at its advice; or lengthen maxAge or halfLife"
    case .freshened: "nothing; it cost no token"
    case .instanceRemoved: "nothing"
    }
  }

  /// Returns the sentence that explains one decision.
  /// - Parameter figures: the numbers of that decision.
  public func explanation(_ figures: Figures) -> String {
    switch self {
    case .duplicate: "the same event was decided before for this instance; that decision holds"
    case .staleEvent: "the event is older than a known one of its subject and type, or than the rule's maxAge allows"
    case .noMatch:
      "no rule of kind \(figures.kind) holds for this event: it has none for the type, or their conditions are not met"
    case .cosmetic: "the rules give this event relevance 0: nobody would miss it"
    case .notVisible:
      "it makes no difference to what \(figures.kind) displays: nothing of that changed, or the screen shows it already"
    case .noToken: "the device has no push token that could reach this instance"
    case .tokenDead: "APNs refused the device's token for good, and no other one was registered until then"
    case .unsupportedOS: "the device's OS version has no push that could reach this \(figures.surface)"
    case .payloadTooLarge: "the push would be larger than the platform takes"
    case .contentIncomplete: "no event has said yet what the Live Activity requires to be known"
    case .kindDisabled: "the policy has switched off kind \(figures.kind)"
    case .appForeground: "the app is in the foreground, where it reloads its widgets for free"
    case .reloadImminent: "the widget's own timeline reloads shortly, for free"
    case .quietHours: "quiet hours, and relevance \(figures.relevance) is no exception\(figures.kept)"
    case .minInterval:
      "the last reload is too short ago for the minimum interval; \(figures.worth)\(figures.kept)"
    case .budgetInstance:
      "the instance has \(figures.instanceTokens) left in this window; \(figures.worth)\(figures.kept)"
    case .budgetDevice:
      "the device has \(figures.deviceTokens) for a push left now; \(figures.worth)\(figures.kept)"
    case .budgetApp: "the app has \(figures.appTokens) left today; \(figures.worth)\(figures.kept)"
    case .reserveHeld:
      "\(figures.instanceTokens) left, kept in reserve for more relevant events;"
        + " this one has relevance \(figures.relevance)\(figures.kept)"
    case .belowPrice: "\(figures.worthAndPrice)\(figures.kept)"
    case .emitted: "sent; \(figures.worthAndPrice)"
    case .emittedAfterDefer: "sent after waiting; \(figures.worthAndPrice)"
    case .emittedCoalesced: "sent with a push to this instance that another event caused, at the same instant or later"
    case .emittedShared: "shown by a push that another instance of the device paid for"
    case .emittedFree: "told the Live Activity at priority 5, which is free and arrives when it suits the device"
    case .activityEnded: "the Live Activity is over"
    case .alreadyStarted: "a Live Activity of this subject runs on the device, or was started before"
    case .awaitingToken:
      "a Live Activity of this subject was started, and its token is not known yet: its registration is answered with the newest content"
    case .dismissed:
      "the person has removed the Live Activity of this subject, so it is not started again while the subject goes on"
    case .endedQuiet: "the Live Activity was ended because its subject had gone quiet"
    case .caughtUp: "sent without an event, because the screen was still wrong about events that had ended"
    case .superseded: "a newer event took its place, or undid it, before a push was worth it"
    case .expired: "out of date, by its maxAge or halfLife, while it waited"
    case .freshened: "the widget fetched its content by itself, so that it shows this already"
    case .instanceRemoved: "the instance or its device was removed while this was waiting"
    }
  }
}

extension Reason {
  /// The verdict of decisions with this reason; nil if no decision has it.
  public var verdict: Verdict? {
    switch entry.outcome {
    case .sent, .sentFree: .emit
    case .sentAlong: .coalesce
    case .heldBack: .defer
    case .needless, .lost: .suppress
    case .onCommands: nil
    }
  }

  /// The outcome for an event that ends, or waits, with this reason.
  public var outcome: Outcome { entry.outcome }

  /// Whether the reason makes an event wait.
  public var holdsBack: Bool { entry.outcome == .heldBack }

  /// Whether a decision with this reason and verdict closes the event for the instance. A `defer` does not, because the
  /// event waits; a `DUPLICATE` does not, because the first decision did.
  public func isFinal(with verdict: Verdict) -> Bool { verdict != .defer && self != .duplicate }
}

extension Reason: NumberedCode {
  /// The cases by their numbers; nil for a number of no case.
  public static let byNumber = casesByNumber()

  /// The number that stands for this reason in files. Never reused for another reason.
  public var number: UInt8 { entry.number }
}
