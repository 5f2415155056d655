/// An integer of 64 bits, signed or unsigned, that is at least 2^53 away from zero. Not every such integer is a double, so it is
/// kept apart from other numbers.
public struct WideInteger: Hashable, Sendable {
  /// The integer without its sign.
  public let magnitude: UInt64
  /// Whether the integer is below zero.
  public let isNegative: Bool

  /// The smallest magnitude: all integers below it are doubles.
  static let least: UInt64 = 1 << 53

  /// Creates an integer; nil if it is a double for sure, because its magnitude is below 2^53.
  public init?(magnitude: UInt64, isNegative: Bool) {
    guard magnitude >= Self.least else { return nil }
    self.magnitude = magnitude
    self.isNegative = isNegative
  }

  /// The nearest double.
  public var nearest: Double { isNegative ? -Double(magnitude) : Double(magnitude) }

  /// Returns whether the integer is a double.
  func equals(_ number: Double) -> Bool {
    (number < 0) == isNegative && Double(exactly: magnitude) == number.magnitude
  }

  /// Returns the absolute difference of two integers, as the nearest double.
  func distance(to other: WideInteger) -> Double {
    if isNegative != other.isNegative { return Double(magnitude) + Double(other.magnitude) }
    return Double(max(magnitude, other.magnitude) - min(magnitude, other.magnitude))
  }
}

extension WideInteger: CustomStringConvertible {
  /// The decimal digits, with a `-` before those of a negative integer.
  public var description: String { (isNegative ? "-" : "") + String(magnitude) }
}
