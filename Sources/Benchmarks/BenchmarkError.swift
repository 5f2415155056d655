/// The reason why a benchmark failed, written for its user.
///
/// A benchmark never prints figures of a run in which something went wrong; it throws instead.
package struct BenchmarkError: Error, CustomStringConvertible, Equatable {
  /// The reason in lower case, with a remedy if there is one.
  package var description: String

  /// Creates an error.
  /// - Parameter description: the reason, in lower case and without a full stop.
  package init(_ description: String) { self.description = description }
}
