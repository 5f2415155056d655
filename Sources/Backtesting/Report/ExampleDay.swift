public import Domain

/// One day of one instance under a policy: the truth, the content that the screen showed, and the looks.
public struct ExampleDay: Equatable, Sendable {
  /// A step of a curve that stays at its value until the next step.
  public struct Step: Equatable, Sendable {
    /// The place in the day at which the step begins, 0…1.
    public var at: Double
    /// The value from this place on.
    public var value: Double
  }

  /// The truth of a displayed number, and the number that the screen showed.
  public struct Number: Equatable, Sendable {
    /// The path of the field, such as `data.waitingFlights`.
    public var field: Identifier
    /// The true number over the day.
    public var truth: [Step]
    /// The number on the screen over the day.
    public var shown: [Step]
  }

  /// The id of the device.
  public var device: Identifier
  /// The id of the instance.
  public var instance: Identifier
  /// The name of the policy.
  public var plan: String
  /// The local date on which the day begins: `2013-07-01`.
  public var date: String
  /// The wrong looks that the policy set right, as a share of those that the day's tokens could have set right.
  public var captured: Double
  /// The wrongness of the screen over the day, 0…1.
  public var wrong: [Step]
  /// The wrongness that the screen would have had without any paid reload, 0…1; free reloads still happen.
  public var wrongWithout: [Step]
  /// The displayed number that changed most often; nil if no number changed.
  public var number: Number?
  /// The places of the reloads in the day, 0…1.
  public var reloads: [Double]
  /// The share of the day's looks in each 48th of the day: 48 values.
  public var looks: [Double]
}
