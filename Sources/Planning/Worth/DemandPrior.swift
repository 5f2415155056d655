/// The day of an instance of which nothing is known yet.
public struct DemandPrior: Equatable, Sendable {
  /// The changes of a day that people could see.
  public var need: Double
  /// The worth of a day's pushes, in looks.
  public var worth: Double

  /// The worth that one token is taken to bring at most, in looks: half the looks of 20 minutes of an average hour. With few
  /// tokens a day, the worth of the day follows from them.
  public var worthPerToken: Double

  /// Creates a prior. Unless told otherwise it is that of production.
  public init(need: Double = 30, worth: Double = 2.5, worthPerToken: Double = 0.35) {
    self.need = need
    self.worth = worth
    self.worthPerToken = worthPerToken
  }

  /// The prior of production. Measured: half to twice of each changes the outcome by less than 0.005.
  public static let standard = DemandPrior()

  /// Returns the worth of a day's pushes of an instance with a number of tokens a day.
  func worth(perDay: Int) -> Double { min(worth, Double(perDay) * worthPerToken) }
}
