/// Why a document, or one value of it, was refused.
public struct JSONError: Error, Equatable, Sendable {
  public enum Kind: Equatable, Sendable {
    /// Not JSON at all, at `offset`.
    case malformed
    /// Ends before it is complete.
    case truncated
    /// Something follows the document.
    case trailingContent
    case invalidUTF8
    case tooLarge
    case tooDeep
    /// A number beyond what a double can hold.
    case numberRange
    case outOfMemory
    /// A member that must be there is not.
    case missing
    case wrongType
    /// The type is right, the value is not.
    case wrongValue
  }

  public var kind: Kind
  /// Where in the document: `$.widgets[2].id`. `$` where the document as a whole is refused.
  public var path: String
  /// With its article: `a string`.
  public var expected: String
  /// With its article: `a number`; empty where there is nothing to name.
  public var found: String
  /// Byte in the document, where that is how the place is known.
  public var offset: Int?

  public init(kind: Kind, path: String = "$", expected: String, found: String = "", offset: Int? = nil) {
    self.kind = kind
    self.path = path
    self.expected = expected
    self.found = found
    self.offset = offset
  }

  /// What was wrong and what was expected, without the place.
  public var message: String {
    switch kind {
    case .missing: return "missing; expected \(expected)"
    case .truncated: return "ends too early; expected \(expected)"
    case .outOfMemory: return "out of memory"
    default: return found.isEmpty ? "expected \(expected)" : "expected \(expected), found \(found)"
    }
  }
}

extension JSONError: CustomStringConvertible {
  /// `$.widgets[2].id: expected a string, found a number`
  public var description: String {
    if let offset { return "byte \(offset): \(message)" }
    return "\(path): \(message)"
  }
}

/// An error type that `JSONReader.read` can throw: it says how a document's refusal becomes one of its values.
public protocol JSONErrorConvertible: Error {
  init(_ error: JSONError)
}

extension JSONError: JSONErrorConvertible {
  public init(_ error: JSONError) { self = error }
}
