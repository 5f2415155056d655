/// The result of one check of a broker.
public struct ConformanceFinding: Equatable, Sendable {
  /// The possible results of a check.
  public enum Outcome: String, Sendable, CaseIterable {
    /// The broker does what Rouse relies on.
    case pass
    /// The broker does something else.
    case fail
    /// The broker does not know the request; Rouse works without it.
    case notSupported = "not supported"
  }

  /// The thing that Rouse relies on, as a sentence.
  public var name: String
  /// The result.
  public var outcome: Outcome
  /// Whether Rouse's guarantees need it.
  public var isNeeded: Bool
  /// A sentence that says what was seen, and what follows from it; empty after a pass.
  public var detail: String

  /// Makes the finding of a check.
  ///
  /// - Parameters:
  ///   - name: The thing that Rouse relies on.
  ///   - isNeeded: Whether Rouse's guarantees need it.
  ///   - verdict: The answer of the check.
  init(name: String, isNeeded: Bool, _ verdict: ConformanceVerdict) {
    self.name = name
    self.isNeeded = isNeeded
    switch verdict {
    case .pass: (outcome, detail) = (.pass, "")
    case .fail(let text): (outcome, detail) = (.fail, text)
    case .notSupported(let text): (outcome, detail) = (.notSupported, text)
    }
  }
}

/// The answer of one check.
enum ConformanceVerdict {
  case pass
  case fail(String)
  case notSupported(String)
}
