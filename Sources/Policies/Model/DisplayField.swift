public import Domain

/// A field of events that an instance shows, and how wrong the screen is while it shows another value than the true one. Only
/// displayed fields can make an instance stale.
public struct DisplayField: Equatable, Sendable {
  /// The difference of two numbers at which the screen is as wrong as `weight` says. Smaller differences count in
  /// proportion, larger ones no more.
  public enum Scale: Equatable, Sendable {
    /// This many units of the field.
    case units(Double)
    /// This percentage of the number that is shown.
    case percentOfShown(Double)
  }

  /// The weight of one value.
  public struct ValueWeight: Equatable, Sendable {
    /// The value as written in the policy: a text, a number, `true` or `false`.
    public var value: Identifier
    /// The weight of the value, 0…1.
    public var weight: Double

    /// Creates the weight of a value. Nothing is checked.
    public init(_ value: Identifier, _ weight: Double) {
      self.value = value
      self.weight = weight
    }
  }

  /// The path of the field, such as `data.status`.
  public var path: Identifier
  /// The step in which a number is shown: it is rounded to a multiple of this first. Nil if it is shown as it is. Two
  /// numbers that are rounded to the same multiple are shown alike.
  public var round: Double?
  /// The difference of two numbers that counts with the full weight; nil: any visible difference does.
  public var per: Scale?
  /// The wrongness of a screen that shows another value of this field than the true one, 0…1; nil: the default that
  /// `weightInForce` describes.
  public var weight: Double?
  /// The weights of single values; all other values have the weight 0. The distance of two values is the difference of
  /// their weights, but at least `weightInForce`.
  public var weights: [ValueWeight]
  /// The value that a screen shows of a subject before any event has carried the field; nil: nothing, so that the first value
  /// counts by its weight.
  public var initial: FieldValue?

  /// Creates a displayed field. Nothing is checked.
  public init(
    path: Identifier, round: Double? = nil, per: Scale? = nil, weight: Double? = nil, weights: [ValueWeight] = [],
    initial: FieldValue? = nil
  ) {
    self.path = path
    self.round = round
    self.per = per
    self.weight = weight
    self.weights = weights
    self.initial = initial
  }

  /// The weight that is used: `weight`, or if that is nil, 0.1 if `weights` has entries and 1 if it has none.
  public var weightInForce: Double { weight ?? (weights.isEmpty ? 1 : 0.1) }
}
