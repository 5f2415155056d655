/// The verdict on one event for one instance of a device. Every event that reaches an instance ends in exactly one decision
/// whose `final` is true.
public struct Decision: Equatable, Sendable {
  /// The id: `d-<partition>-<offset>-<ordinal>` of the log record that led to the decision. A second run over the same log
  /// gives the same id.
  public var decision: Identifier
  /// The CloudEvents id of the event that was decided about.
  public var event: Identifier
  /// The ids of all events that the command shows on this instance, oldest first. Only `[event]` if nothing was merged.
  public var events: [Identifier]
  /// The id of the device.
  public var device: Identifier
  /// The id of the widget, control or Live Activity on the device.
  public var instance: Identifier
  /// The kind of the instance.
  public var kind: Identifier
  /// The surface of the instance.
  public var surface: Surface
  /// The decision itself.
  public var verdict: Verdict
  /// The reason for the verdict.
  public var reason: Reason
  /// Whether the decision closes the event for this instance. A `defer` never does.
  public var final: Bool
  /// The log time of the decision.
  public var at: Timestamp
  /// The relevance of this event alone, 0…1, as its rule states it. If the rule states none, it is how wrong the event
  /// makes the screen of its subject.
  public var relevance: Double
  /// The distance between the screen of the instance and the truth when the decision was made, before any push: 0…1. This
  /// number and the next three are 0 if the push was not weighed.
  public var wrong: Double
  /// The number of looks at the screen that were expected in the next 20 minutes.
  public var looks: Double
  /// The worth of the push in looks: the sum of `worth` over all instances that it would reload.
  public var value: Double
  /// The price of the push in looks: the sum of what a token costs over all instances that it would be charged to, plus
  /// the cost of a token of the device's rate of pushes.
  public var price: Double
  /// The tokens left after this decision.
  public var tokensLeft: TokensLeft
  /// The latest instant at which a deferred event is examined again; nil for other verdicts.
  public var until: Timestamp?
  /// The id of the command that carries the event; nil if none does.
  public var command: Identifier?
  /// The result against the objective of the kind; nil if the decision does not close a change that counts, or the kind has no
  /// objective.
  public var objective: ObjectiveResult?
  /// The policy that was in force.
  public var policy: PolicyReference
  /// The W3C trace context of the event.
  public var traceparent: String?

  /// Creates a decision from its parts. Nothing is checked.
  public init(
    decision: Identifier, event: Identifier, events: [Identifier], device: Identifier, instance: Identifier,
    kind: Identifier,
    surface: Surface, verdict: Verdict, reason: Reason, final: Bool, at: Timestamp, relevance: Double, wrong: Double,
    looks: Double, value: Double, price: Double, tokensLeft: TokensLeft, until: Timestamp? = nil,
    command: Identifier? = nil, objective: ObjectiveResult? = nil, policy: PolicyReference,
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
    self.wrong = wrong
    self.looks = looks
    self.value = value
    self.price = price
    self.tokensLeft = tokensLeft
    self.until = until
    self.command = command
    self.objective = objective
    self.policy = policy
    self.traceparent = traceparent
  }

  /// The tokens that the ledgers held after a decision. A level without a limit is nil.
  public struct TokensLeft: Equatable, Sendable {
    /// The reloads that the instance may still spend in its window.
    public var instance: Int?
    /// The pushes that the device may still receive now.
    public var device: Int?
    /// The pushes that this partition may still send for the app in the current UTC day.
    public var app: Int?

    /// Creates the counts; a level that is left out has no limit.
    public init(instance: Int? = nil, device: Int? = nil, app: Int? = nil) {
      self.instance = instance
      self.device = device
      self.app = app
    }
  }
}

extension Decision {
  /// The worth of a reload of this instance alone, in looks.
  public var worth: Double { ReloadWorth.looks(distance: wrong, ahead: looks) }

  /// The part of `value` that the other instances of the push add, in looks. Differences of up to a ten-thousandth of
  /// `value`, and those that rounding to six decimals explains, count as 0.
  public var worthOfOthers: Double {
    let others = value - worth
    return others > 1e-4 * value + 2e-6 * (1 + looks) ? others : 0
  }

  /// Whether the planner compared worth and price. If an earlier check decided, `wrong`, `looks`, `value` and `price`
  /// are all 0.
  public var isWeighed: Bool { wrong != 0 || looks != 0 || value != 0 || price != 0 }
}
