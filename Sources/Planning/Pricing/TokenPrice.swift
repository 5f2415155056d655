/// The price of one token now, with the estimates from which it follows.
struct TokenPrice: Equatable {
  /// λ, in looks; 0 while there are tokens for everything that is expected.
  var looks: Double
  /// N, the number of changes that people could see and that are still to come in the budget day, at most one in each
  /// minimum interval. For a token of a rate, those of the rate's time ahead, an hour at least.
  var need: Double
  /// A, the worth in looks of the pushes that are still to come in the same time.
  var worth: Double

  /// Creates the price of a token: λ = 1.25 · A / left · (1 − left / N), and 0 when the tokens suffice. If pushes times
  /// price is about A, tokens last to the end of the day when λ = A / left. The bracket takes the price to 0 as the
  /// need falls to the number of tokens.
  /// - Parameters:
  ///   - need: N.
  ///   - worth: A, in looks.
  ///   - left: The tokens that are left. 0 counts as 1.
  init(need: Double, worth: Double, left: Int) {
    let tokens = Double(max(1, left))
    self.need = need
    self.worth = worth
    looks = need <= tokens ? 0 : Self.sharpness * worth / tokens * (1 - tokens / need)
  }

  /// The factor of the price. Measured: half or twice as much changes the outcome of a backtest by less than 0.005.
  private static let sharpness = 1.25
}
