/// The reason why a file of screen events cannot be used.
public struct ScreenEventsError: Error, CustomStringConvertible {
  /// The file, with the number of the line if one is wrong.
  var place: String
  /// The mistake, and what was expected instead.
  var problem: String
  /// The place and the problem, for people.
  public var description: String { "\(place): \(problem)" }
}
