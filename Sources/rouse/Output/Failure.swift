/// Reports why a command failed, to the person who started it. The exit code is 1.
struct Failure: Error, CustomStringConvertible {
  /// The reason in lower case, with what to do where something can be done.
  var description: String
  init(_ description: String) { self.description = description }
}
