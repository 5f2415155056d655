/// A store's refusal of records for their content. Trying again does not help; after any other error of a store it may.
public struct RecordRefusal: Error, Equatable, Sendable {
  /// The reason, in words.
  public var reason: String

  /// Makes a refusal.
  ///
  /// - Parameter reason: The reason, in words.
  public init(reason: String) { self.reason = reason }
}
