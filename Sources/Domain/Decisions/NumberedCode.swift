/// A word of the domain that files and the planner's state store as a small number.
///
/// A number is never given to another word, because files that were written before would then be read wrongly.
public protocol NumberedCode: RawRepresentable, CaseIterable, Sendable where RawValue == String {
  /// The number of the word, 0…255.
  var number: UInt8 { get }
}

extension NumberedCode {
  /// Returns the word with a number; nil if there is none.
  public init?(number: UInt8) {
    guard let word = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = word
  }
}
