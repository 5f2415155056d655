/// An enumeration of the domain whose cases are stored as small numbers, in files and in the planner's state.
///
/// The number of a case is never given to another case, because older files would then be read wrongly.
public protocol NumberedCode: RawRepresentable, CaseIterable, Sendable where RawValue == String {
  /// The number that stands for this case, 0…255.
  var number: UInt8 { get }
  /// The cases by their numbers; nil for a number of no case. Set it to `casesByNumber()`: a question reads the number of each decision
  /// that it looks at, so a search through the cases would be most of its time.
  static var byNumber: [Self?] { get }
}

extension NumberedCode {
  /// Creates the case with a number; nil if no case has it.
  public init?(number: UInt8) {
    let known = Self.byNumber
    guard number < known.count, let word = known[Int(number)] else { return nil }
    self = word
  }

  /// Returns the cases by their numbers; nil for a number of no case.
  static func casesByNumber() -> [Self?] {
    let last = allCases.map(\.number).max() ?? 0
    var cases = [Self?](repeating: nil, count: Int(last) + 1)
    for word in allCases { cases[Int(word.number)] = word }
    return cases
  }
}
