public import Domain

/// A rule of a kind: the events that it is about, how much they matter, and which instances they reach.
public struct Rule: Equatable, Sendable {
  /// The event type, or a prefix of types followed by `*`, such as `flight.*`.
  public var event: Identifier
  /// The conditions on the event's fields. All must hold; otherwise the next rule is tried.
  public var conditions: [RuleCondition]
  /// The templates of the event's interest keys. A key whose template names a field that the event lacks is not made.
  public var interests: [InterestTemplate]
  /// The relevance of an event as news; nil: the event matters as much as it makes the screen wrong.
  public var relevance: RelevanceFormula?
  /// The age beyond which an event ends as `STALE_EVENT`, and at which a pending one expires; nil: no bound.
  public var maxAge: TimeSpan?
  /// The effect on a Live Activity. Always `update` for other surfaces.
  public var action: Action

  /// An effect of an event on a Live Activity.
  public enum Action: String, Sendable, CaseIterable { case start, update, end }

  /// Creates a rule. Nothing is checked.
  public init(
    event: Identifier, conditions: [RuleCondition] = [], interests: [InterestTemplate] = [.subject],
    relevance: RelevanceFormula? = nil, maxAge: TimeSpan? = nil, action: Action = .update
  ) {
    self.event = event
    self.conditions = conditions
    self.interests = interests
    self.relevance = relevance
    self.maxAge = maxAge
    self.action = action
  }

  /// The bytes with which a type must begin if `event` ends in `*`; nil if the rule is about exactly one type.
  var prefix: Substring.UTF8View? { event.utf8.last == UInt8(ascii: "*") ? event.utf8.dropLast() : nil }

  /// Whether the rule holds for an event: it is about the event's type, and all its conditions hold.
  public func matches(_ event: DomainEvent) -> Bool {
    matches(type: event.type) && conditions.allSatisfy { $0.holds(for: event) }
  }

  /// Whether the rule is about an event type.
  public func matches(type: Identifier) -> Bool {
    prefix.map { type.utf8.starts(with: $0) } ?? (type == event)
  }
}
