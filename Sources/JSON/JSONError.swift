/// The reason why a document, or one value of it, was refused.
public struct JSONError: Error, Equatable, Sendable {
  /// The kinds of refusal.
  public enum Kind: Equatable, Sendable {
    /// The text is not JSON from `offset` on.
    case malformed
    /// The document ends before it is complete.
    case truncated
    /// Something follows the document.
    case trailingContent
    /// The byte at `offset` is not part of valid UTF-8.
    case invalidUTF8
    /// The document has more bytes than the reader's bound.
    case tooLarge
    /// The document is nested more deeply than the reader's bound.
    case tooDeep
    /// A number is larger than any double.
    case numberRange
    /// The system has no memory for the document.
    case outOfMemory
    /// A required member is absent.
    case missing
    /// A value has another type than expected.
    case wrongType
    /// A value has the expected type but is not allowed.
    case wrongValue
  }

  /// The kind of refusal.
  public var kind: Kind
  /// The path of the value in the document, such as `$.widgets[2].id`; `$` if the whole document is refused.
  public var path: String
  /// The expected thing with its article, such as `a string`.
  public var expected: String
  /// The thing that was found, with its article, such as `a number`; empty if there is nothing to name.
  public var found: String
  /// The byte in the document, from 0; `nil` for errors that name a path instead.
  public var offset: Int?

  /// Makes an error.
  /// - Parameters:
  ///   - kind: The kind of refusal.
  ///   - path: The path of the value in the document.
  ///   - expected: The expected thing with its article.
  ///   - found: The thing that was found, with its article.
  ///   - offset: The byte in the document, from 0.
  public init(kind: Kind, path: String = "$", expected: String, found: String = "", offset: Int? = nil) {
    self.kind = kind
    self.path = path
    self.expected = expected
    self.found = found
    self.offset = offset
  }

  /// The mistake and the expectation, without the place.
  public var message: String {
    switch kind {
    case .missing: return "missing; expected \(expected)"
    case .truncated: return "ends too early; expected \(expected)"
    case .outOfMemory: return "out of memory"
    case .malformed, .trailingContent, .invalidUTF8, .tooLarge, .tooDeep, .numberRange, .wrongType, .wrongValue:
      return found.isEmpty ? "expected \(expected)" : "expected \(expected), found \(found)"
    }
  }
}

extension JSONError: CustomStringConvertible {
  /// The place and the message: `$.widgets[2].id: expected a string, found a number`.
  public var description: String {
    if let offset { return "byte \(offset): \(message)" }
    return "\(path): \(message)"
  }
}

/// An error type that ``JSONReader/read(_:_:)`` can throw, because a document's refusal can be converted to it.
public protocol JSONErrorConvertible: Error {
  /// Converts the refusal of a document.
  init(_ error: JSONError)
}

extension JSONError: JSONErrorConvertible {
  /// Copies the error.
  public init(_ error: JSONError) { self = error }
}
