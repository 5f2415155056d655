/// The reason why a command failed, written for its user. The exit code is 1.
struct Failure: Error, CustomStringConvertible {
  /// The reason in lower case, with a remedy if there is one.
  var description: String
  init(_ description: String) { self.description = description }
}
