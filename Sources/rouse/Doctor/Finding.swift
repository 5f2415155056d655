/// Something that `rouse doctor` found.
struct Finding: Sendable, Equatable {
  /// The kind of finding.
  var code: FindingCode
  /// The severity; never worse than the code allows.
  var severity: FindingSeverity
  /// The places or things that it is about, each as a phrase.
  var places: [String]

  /// States a finding.
  /// - Parameters:
  ///   - code: The kind of finding.
  ///   - places: The places or things that it is about.
  ///   - severity: The severity; nil for the worst that the code allows.
  init(_ code: FindingCode, _ places: [String], as severity: FindingSeverity? = nil) {
    self.code = code
    self.severity = max(severity ?? code.meaning.worst, code.meaning.worst)
    self.places = places
  }

  /// The number of places that are printed for people.
  /// - Beyond: the places are only counted; `--format json` has all of them.
  static let placesMax = 8
}

extension [Finding] {
  /// Adds a finding unless there is no place.
  mutating func add(_ code: FindingCode, _ places: [String], as severity: FindingSeverity? = nil) {
    if !places.isEmpty { append(Finding(code, places, as: severity)) }
  }

  /// The findings, the worst first.
  var ordered: [Finding] {
    enumerated().sorted { left, right in
      let (a, b) = (left.element, right.element)
      return (a.severity == .wrong ? 0 : 1, a.code.rank, left.offset)
        < (b.severity == .wrong ? 0 : 1, b.code.rank, right.offset)
    }.map(\.element)
  }
}
