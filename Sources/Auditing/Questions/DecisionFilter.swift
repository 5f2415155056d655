public import Domain

/// The properties that the decisions of a list must have. A property that is nil excludes none.
public struct DecisionFilter: Equatable, Sendable {
  /// The id of the device.
  public var device: Identifier?
  /// The id of the instance.
  public var instance: Identifier?
  /// The id of the event that was decided about.
  public var event: Identifier?
  /// The id of the command that carries the event.
  public var command: Identifier?
  /// The kind of the instance.
  public var kind: Identifier?
  /// The surface of the instance.
  public var surface: Surface?
  public var verdict: Verdict?
  public var reason: Reason?
  /// The result against the objective of the kind.
  public var objective: ObjectiveResult?
  /// Whether the decision closes the event.
  public var final: Bool?
  /// The range of log time.
  public var range: TimeRange

  /// Creates a filter that excludes nothing.
  public init() { range = .all }

  /// Whether a decision has all properties.
  public func includes(_ decision: Decision) -> Bool {
    func isWanted<Value: Equatable>(_ wanted: Value?, _ value: Value?) -> Bool { wanted.map { $0 == value } ?? true }
    return isWanted(device, decision.device) && isWanted(instance, decision.instance)
      && isWanted(event, decision.event) && isWanted(command, decision.command) && isWanted(kind, decision.kind)
      && isWanted(surface, decision.surface) && isWanted(verdict, decision.verdict)
      && isWanted(reason, decision.reason) && isWanted(objective, decision.objective) && isWanted(final, decision.final)
      && range.contains(decision.at.microseconds)
  }
}

/// The place of a decision in the order of storing.
///
/// A place stays the same while its decision is stored, with one exception: when retention removes decisions of a page, those that stay
/// move up in it. The id tells that, and the page is then taken from its beginning: decisions may come twice, and none is left out.
public struct DecisionPlace: Equatable, Sendable {
  /// The sequence number of the page.
  public var page: Int64
  /// The line in the page, from 0; −1 for the place before the first one.
  public var line: Int
  /// The id of the decision; empty if the line is −1.
  public var id: Identifier

  /// Creates a place.
  /// - Parameters:
  ///   - page: The sequence number of the page.
  ///   - line: The line in the page, from 0; −1 for the place before the first one.
  ///   - id: The id of the decision; empty if the line is −1.
  public init(page: Int64, line: Int, id: Identifier) {
    self.page = page
    self.line = line
    self.id = id
  }
}

/// A part of a list of decisions.
public struct DecisionPart: Equatable, Sendable {
  /// The orders of a list. It is the order of storing, which nearly follows log time.
  public enum Order: String, Sendable, CaseIterable { case newest, oldest }

  /// A decision with its place.
  public struct PlacedDecision: Equatable, Sendable {
    public var decision: Decision
    public var place: DecisionPlace
  }

  /// The decisions. There may be fewer than were asked for although others follow, because the number of pages that are read for a part is
  /// bounded.
  public var decisions: [PlacedDecision] = []
  /// The place up to which decisions were read; nil if there was none to read.
  public var end: DecisionPlace?
  /// Whether no further decision is stored.
  public var isLast = false
  /// The place after which the next part begins; nil at the end of the list.
  public var next: DecisionPlace? { isLast ? nil : end }
}
