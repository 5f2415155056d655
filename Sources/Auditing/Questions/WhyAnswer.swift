public import Domain
import GRDB

/// The answer to a `WhyQuestion`: a story for each instance that the event reached.
public struct WhyAnswer: Equatable, Sendable {
  /// The decisions about one event for one instance, and the push that they led to.
  public struct Story: Equatable, Sendable {
    /// The id of the instance.
    public var instance: Identifier
    /// The kind of the instance.
    public var kind: Identifier
    /// The surface of the instance.
    public var surface: Surface
    /// The decisions, oldest first. The last one is final unless the event is still pending.
    public var steps: [Step]
    /// The push in which the event ended; nil if it ended otherwise or the command is not stored.
    public var command: Command?
    /// The effect of the command on each ledger that it was charged to.
    public var charges: [ChargeEffect]
    /// The outcome of the story in one sentence.
    public var outcome: String
  }

  /// One decision with its explanation.
  public struct Step: Equatable, Sendable {
    public var decision: Decision
    /// The meaning of the decision in one sentence, with its numbers.
    public var explanation: String
    /// The change that would have led to another decision; nil if it cannot be derived from this decision and those before it.
    public var counterfactual: String?

    /// The events that the decision shows beside its own.
    public var otherEvents: [Identifier] { decision.events.filter { $0 != decision.event } }
  }

  /// The tokens of a ledger before and after a charge.
  public struct ChargeEffect: Equatable, Sendable {
    /// The kind of ledger.
    public var ledger: Command.Ledger
    /// The instance, device, activity or app that the ledger belongs to.
    public var owner: Identifier
    /// The number of tokens before the charge.
    public var before: Int
    /// The number of tokens after the charge.
    public var after: Int
  }

  /// The question as it was asked.
  public var question: WhyQuestion
  /// The event that the answer is about; nil if the question names none and none was found.
  public var event: Identifier?
  /// Whether the store has seen the device.
  public var deviceIsKnown: Bool
  /// Whether the store has seen the event.
  public var eventIsKnown: Bool
  /// The stories in order of kind and instance.
  public var stories: [Story]
  /// Sentences about the device, the event and the store; empty if there is a story.
  public var remarks: [String]
}

/// The question why a device did, or did not, reload.
public struct WhyQuestion: Equatable, Sendable {
  /// The id of the device.
  public var device: Identifier
  /// The instance in question; nil: every instance of the device.
  public var instance: Identifier?
  /// The kind in question; nil: every kind.
  public var kind: Identifier?
  /// The event in question; nil: the event of the newest decision about the device, up to `at`.
  public var event: Identifier?
  /// The latest log time at which a decision is looked for if `event` is nil; nil: no limit.
  public var at: Timestamp?

  /// - Parameters:
  ///   - device: the id of the device.
  ///   - instance: the id of an instance; nil: every instance.
  ///   - kind: a kind; nil: every kind.
  ///   - event: the id of an event; nil: the event of the newest decision, up to `at`.
  ///   - at: the latest log time of that decision, used without an event only; nil: no limit.
  public init(
    device: Identifier, instance: Identifier? = nil, kind: Identifier? = nil, event: Identifier? = nil,
    at: Timestamp? = nil
  ) {
    self.device = device
    self.instance = instance
    self.kind = kind
    self.event = event
    self.at = at
  }
}

extension AuditStore {
  /// Explains the decisions about one event on one device. If there are none, the answer says what the store knows of
  /// the device and of the event.
  /// - Throws: `AuditError` when the file cannot be read.
  public func why(_ question: WhyQuestion) throws(AuditError) -> WhyAnswer {
    try read { db in try WhyReader(db: db, words: WordReader(db), question: question).answer() }
  }
}
