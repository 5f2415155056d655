/// The version of an operating system, such as `26.1`. Versions are compared as numbers, so 9.3 is older than 26.1.
public struct OSVersion: Hashable, Comparable, Sendable {
  /// The number before the first dot.
  public var major: UInt16
  /// The number after the first dot; 0 if there is none.
  public var minor: UInt16

  /// Creates a version from its numbers.
  public init(major: UInt16, minor: UInt16 = 0) {
    self.major = major
    self.minor = minor
  }

  /// Reads `26`, `26.1` or `26.1.2`, whose patch level is dropped. The result is nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), let major = UInt16(parts[0]) else { return nil }
    var minor: UInt16 = 0
    if parts.count > 1 {
      guard let value = UInt16(parts[1]) else { return nil }
      minor = value
    }
    if parts.count > 2, UInt16(parts[2]) == nil { return nil }
    self.init(major: major, minor: minor)
  }

  /// Whether the first version is older.
  public static func < (a: OSVersion, b: OSVersion) -> Bool { (a.major, a.minor) < (b.major, b.minor) }
}

extension OSVersion: CustomStringConvertible {
  /// The expected form of the text, in words for error messages.
  static var expectation: String { "a version such as \"26.1\"" }

  /// The version as `major.minor`.
  public var description: String { "\(major).\(minor)" }
}
