/// The present worth of a token of the day, with the estimates that it follows from.
struct TokenPrice: Equatable {
  /// λ, in looks; 0 while there are tokens for everything that is expected.
  var looks: Double
  /// N, the changes that people could see which are still to come in the budget day, each minimum interval counting once.
  var need: Double
  /// A, the worth in looks of the pushes that are still to come in the budget day.
  var worth: Double

  /// Creates the price of a token: λ = 1.25 · A / left · (1 − left / N), and 0 when the tokens suffice. If pushes times price is
  /// about A, tokens last to the end of the day when λ = A / left. The bracket takes the price to nothing as the need meets
  /// the tokens.
  /// - Parameters:
  ///   - need: N.
  ///   - worth: A, in looks.
  ///   - left: The tokens that are left. None counts as one.
  @inline(__always)
  init(need: Double, worth: Double, left: Int) {
    let tokens = Double(max(1, left))
    self.need = need
    self.worth = worth
    looks = need <= tokens ? 0 : Self.sharpness * worth / tokens * (1 - tokens / need)
  }

  /// Measured: from half to twice as much changes the outcome by less than 0.005.
  private static let sharpness = 1.25
}
