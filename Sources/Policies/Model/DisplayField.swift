public import Domain

/// A field of events that an instance shows. Only displayed fields can make an instance stale.
public struct DisplayField: Equatable, Sendable {
  /// The path of the field, such as `data.status`.
  public var path: Identifier
  /// The unit to which a number is rounded before it is shown; nil: it is shown as it is.
  public var round: Double?

  /// Creates a displayed field. Nothing is checked.
  public init(path: Identifier, round: Double? = nil) {
    self.path = path
    self.round = round
  }
}
