/// The demand that is assumed for a day of an instance of which nothing is known yet.
public struct DemandPrior: Equatable, Sendable {
  /// The number of changes in a day that people could see.
  public var need: Double
  /// The worth of a day's pushes, in looks.
  public var worth: Double

  /// The largest worth that one token is assumed to bring, in looks: half the looks of 20 minutes of an average hour.
  /// With few tokens a day, the worth of the day follows from them.
  public var worthPerToken: Double

  /// Creates a prior. The default values are those of production.
  public init(need: Double = 30, worth: Double = 2.5, worthPerToken: Double = 0.35) {
    self.need = need
    self.worth = worth
    self.worthPerToken = worthPerToken
  }

  /// The prior of production. Measured: half or twice any of its numbers changes the outcome of a backtest by less than
  /// 0.005.
  public static let standard = DemandPrior()

  /// Returns the worth of a day's pushes of an instance with a number of tokens a day.
  func worth(perDay: Int) -> Double { min(worth, Double(perDay) * worthPerToken) }
}
