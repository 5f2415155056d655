/// The result of one check of a broker.
public struct ConformanceFinding: Equatable, Sendable {
  /// The possible results of a check.
  public enum Outcome: String, Sendable, CaseIterable {
    /// The broker does what Rouse relies on.
    case pass
    /// The broker does something else.
    case fail
    /// The broker does not know the request, or a check could not be made without it. `isNeeded` says whether Rouse
    /// works without it.
    case notSupported = "not supported"
  }

  /// The property of the broker that was checked, as a short sentence.
  public var name: String
  /// The result.
  public var outcome: Outcome
  /// Whether Rouse's guarantees need the property.
  public var isNeeded: Bool
  /// A sentence that says what was seen, and what follows from it; empty after a pass.
  public var detail: String

  /// Makes the finding of a check.
  ///
  /// - Parameters:
  ///   - name: The property of the broker that was checked.
  ///   - isNeeded: Whether Rouse's guarantees need the property.
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
