/// The initial parameters of a kind's price, before any event was planned.
public struct PricePrior: Equatable, Sendable {
  /// The base price θ: the value that a change must have to be worth a token while the spending is on plan.
  public var base: Double
  /// The value below which a pending change ends as `BELOW_FLOOR`.
  public var floor: Double
  /// The smoothing s in the price λ = θ·((k·F + s)/(left + s))³·(m + 2f)/(2m + f). The larger s is, the less few tokens
  /// raise the price.
  public var smoothing: Double
  /// The expected share of the day's value by local hour 0…23. The shares add up to 1.
  public var hourlyShare: [Double]

  /// Creates the start of a price. Nothing is checked.
  public init(
    base: Double = 0.3, floor: Double = 0.01, smoothing: Double = 3,
    hourlyShare: [Double] = PricePrior.defaultHourlyShare
  ) {
    self.base = base
    self.floor = floor
    self.smoothing = smoothing
    self.hourlyShare = hourlyShare
  }

  /// The shares in proportion to `KindPolicy.defaultViews`, because a change has no worth while no one looks.
  public static let defaultHourlyShare: [Double] = {
    let sum = KindPolicy.defaultViews.reduce(0, +)
    return KindPolicy.defaultViews.map { $0 / sum }
  }()
}
