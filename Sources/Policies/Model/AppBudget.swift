public import Domain

/// A limit on the commands of one app in a UTC day, over all its devices.
public struct AppBudget: Equatable, Sendable {
  /// The bundle id.
  public var app: Identifier
  /// The commands in a UTC day. Each of P partitions owns `perDay / P` of them, and the first `perDay % P` own one more.
  public var perDay: Int
  /// The commands in a UTC day whose charges are given back because their delivery failed; nil for `refundShare` of `perDay`. They are
  /// split over the partitions as `perDay` is.
  public var refundsPerDay: Int?

  /// The commands of a day whose charges may be given back, as a share of the commands of a day.
  /// - Beyond: the charges of further commands stay, although their delivery failed.
  public static var refundShare: Double { 0.25 }

  /// Creates a limit. Nothing is checked.
  public init(app: Identifier, perDay: Int, refundsPerDay: Int? = nil) {
    self.app = app
    self.perDay = perDay
    self.refundsPerDay = refundsPerDay
  }

  /// The largest number of commands in a UTC day whose charges are given back.
  public var refundsInForce: Int { refundsPerDay ?? Self.refunds(of: perDay) }

  /// Returns the number of refunds that a number of commands a day allows: `refundShare` of it, at least 1.
  public static func refunds(of perDay: Int) -> Int { max(1, Int(Double(perDay) * refundShare)) }
}
