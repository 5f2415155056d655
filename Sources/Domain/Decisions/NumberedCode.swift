/// An enumeration of the domain whose cases are stored as small numbers, in files and in the planner's state.
///
/// The number of a case is never given to another case, because older files would then be read wrongly.
public protocol NumberedCode: RawRepresentable, CaseIterable, Sendable where RawValue == String {
  /// The number that stands for this case, 0…255.
  var number: UInt8 { get }
}

extension NumberedCode {
  /// Creates the case with a number; nil if no case has it.
  public init?(number: UInt8) {
    guard let word = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = word
  }
}
