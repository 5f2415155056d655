public import Domain

/// A limit on the commands of one app in a UTC day, over all its devices.
public struct AppBudget: Equatable, Sendable {
  /// The bundle id.
  public var app: Identifier
  /// The commands in a UTC day. Each of P partitions owns `perDay / P` of them, and the first `perDay % P` own one more.
  public var perDay: Int

  /// Creates a limit. Nothing is checked.
  public init(app: Identifier, perDay: Int) {
    self.app = app
    self.perDay = perDay
  }
}
