/// The verdict on one (event, device, instance). Every event that reaches an instance has exactly one with `final`.
public struct Decision: Equatable, Sendable {
  /// `d-<partition>-<offset>-<ordinal>` of the log record that led to it; the same on every re-run.
  public var decision: String
  /// CloudEvents id of the event decided about.
  public var event: String
  /// Every cause that the command delivers to this instance, oldest first; only `[event]` where nothing was merged.
  public var events: [String]
  public var device: String
  public var instance: String
  public var kind: String
  public var surface: Surface
  public var verdict: Verdict
  public var reason: Reason
  /// Whether this closes (event, instance). A `defer` never does.
  public var final: Bool
  /// Log time of the decision.
  public var at: Timestamp
  /// 0…1, from the policy's rules, for this event alone.
  public var relevance: Double
  /// Everything pending on the instance, decayed and weighted by the chance that somebody looks.
  public var value: Double
  /// What one token of the instance was worth at that moment.
  public var price: Double
  public var tokensLeft: TokensLeft
  /// For `defer`: when it is examined again at the latest.
  public var until: Timestamp?
  /// Id of the command that carries it.
  public var command: String?
  public var policy: PolicyReference
  public var traceparent: String?

  public init(
    decision: String, event: String, events: [String], device: String, instance: String, kind: String,
    surface: Surface, verdict: Verdict, reason: Reason, final: Bool, at: Timestamp, relevance: Double, value: Double,
    price: Double, tokensLeft: TokensLeft, until: Timestamp? = nil, command: String? = nil, policy: PolicyReference,
    traceparent: String? = nil
  ) {
    self.decision = decision
    self.event = event
    self.events = events
    self.device = device
    self.instance = instance
    self.kind = kind
    self.surface = surface
    self.verdict = verdict
    self.reason = reason
    self.final = final
    self.at = at
    self.relevance = relevance
    self.value = value
    self.price = price
    self.tokensLeft = tokensLeft
    self.until = until
    self.command = command
    self.policy = policy
    self.traceparent = traceparent
  }

  /// What the ledgers held after this decision; nil where the level has no limit.
  public struct TokensLeft: Equatable, Sendable {
    public var instance: Int?
    public var device: Int?
    public var app: Int?
    public init(instance: Int? = nil, device: Int? = nil, app: Int? = nil) {
      self.instance = instance
      self.device = device
      self.app = app
    }
  }
}

/// Which policy decided.
public struct PolicyReference: Hashable, Sendable {
  /// `version` of the document.
  public var version: String
  /// First 16 hexadecimal digits of the SHA-256 of the document's bytes.
  public var hash: String
  public init(version: String, hash: String) {
    self.version = version
    self.hash = hash
  }
}

/// Where something is shown, and so how it is pushed.
public enum Surface: String, Sendable, CaseIterable {
  case widget, control, liveActivity, background, broadcast
}

/// What a decision says.
public enum Verdict: String, Sendable, CaseIterable {
  /// A command goes out because of this event.
  case emit
  /// Not now; it stays pending.
  case `defer`
  /// Rides along with a command that another event or another instance caused.
  case coalesce
  /// Never.
  case suppress
}

/// Why. A code is never reused for something else; the order is that of the checks.
public enum Reason: String, Sendable, CaseIterable {
  /// The same event was decided before; that decision holds.
  case duplicate = "DUPLICATE"
  /// Older than what the partition already knows of the subject, or than the rule's `maxAge`.
  case staleEvent = "STALE_EVENT"
  /// The kind has no rule for this event type.
  case noMatch = "NO_MATCH"
  /// Relevance 0.
  case cosmetic = "COSMETIC"
  /// What the kind displays is unchanged since the last reload.
  case notVisible = "NOT_VISIBLE"
  case noToken = "NO_TOKEN"
  case tokenDead = "TOKEN_DEAD"
  case unsupportedOS = "UNSUPPORTED_OS"
  case payloadTooLarge = "PAYLOAD_TOO_LARGE"
  case kindDisabled = "KIND_DISABLED"
  /// The app is in the foreground: it reloads its widgets for free.
  case appForeground = "APP_FOREGROUND"
  /// The widget's own timeline reloads shortly, for free.
  case reloadImminent = "RELOAD_IMMINENT"
  case quietHours = "QUIET_HOURS"
  case minInterval = "MIN_INTERVAL"
  case budgetInstance = "BUDGET_INSTANCE"
  case budgetDevice = "BUDGET_DEVICE"
  case budgetApp = "BUDGET_APP"
  /// What is left is kept for more relevant events.
  case reserveHeld = "RESERVE_HELD"
  /// Worth less than a token is worth now.
  case belowPrice = "BELOW_PRICE"
  /// Worth so little that it is not kept.
  case belowFloor = "BELOW_FLOOR"
  case emitted = "EMITTED"
  case emittedAfterDefer = "EMITTED_AFTER_DEFER"
  /// Merged into the command that a later event of the same instance caused.
  case emittedCoalesced = "EMITTED_COALESCED"
  /// Another instance of the device paid for the push.
  case emittedShared = "EMITTED_SHARED"
  /// Told a Live Activity at priority 5, which is free.
  case emittedFree = "EMITTED_FREE"
  /// The Live Activity is over.
  case activityEnded = "ACTIVITY_ENDED"
  /// A Live Activity of the subject runs on the device, or was started before.
  case alreadyStarted = "ALREADY_STARTED"
  /// On commands only: the activity's subject has gone quiet.
  case endedQuiet = "ENDED_QUIET"
  /// What it announced was undone, or a newer event took its place.
  case superseded = "SUPERSEDED"
  /// Lost its worth before a token was worth spending on it.
  case expired = "EXPIRED"
  /// A signal says that the instance shows the newest content by itself.
  case freshened = "FRESHENED"
  /// The instance or its device was removed while this was pending.
  case instanceRemoved = "INSTANCE_REMOVED"
}
