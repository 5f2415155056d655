/// A store that cannot be used until a person mends it or moves it away. Trying again with the same store does not help.
public struct UnusableStore: Error, Equatable, Sendable {
  /// The reason and the remedy, in words.
  public var reason: String

  /// Makes a failure.
  ///
  /// - Parameter reason: The reason and the remedy, in words.
  public init(reason: String) { self.reason = reason }
}
