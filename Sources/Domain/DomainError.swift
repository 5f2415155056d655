public import JSON

/// The reason why a record from outside was refused. Its dead letter carries it.
public struct DomainError: Error, Equatable, Sendable {
  /// A kind of mistake. A code never changes its meaning.
  public enum Code: String, Sendable, CaseIterable {
    /// The value is not JSON.
    case invalidJSON = "INVALID_JSON"
    /// A text is not UTF-8.
    case invalidUTF8 = "INVALID_UTF8"
    /// The record's value, key or headers have more bytes than `DomainBounds` allows.
    case tooLarge = "TOO_LARGE"
    /// The JSON has more levels than `DomainBounds.nestingMax`.
    case tooDeep = "TOO_DEEP"
    /// A required field is missing.
    case missingField = "MISSING_FIELD"
    /// A field has another JSON type than expected.
    case wrongType = "WRONG_TYPE"
    /// A field has the right type, but a value that is not allowed.
    case invalidValue = "INVALID_VALUE"
    /// A field exceeds a bound of `DomainBounds`.
    case outOfBounds = "OUT_OF_BOUNDS"
    /// The topic does not accept this CloudEvents type.
    case unknownType = "UNKNOWN_TYPE"
    /// The CloudEvents version is not 1.0.
    case unsupportedSpecversion = "UNSUPPORTED_SPECVERSION"
    /// The content is not a CloudEvent with JSON data.
    case unsupportedContentType = "UNSUPPORTED_CONTENT_TYPE"
    /// The time zone is not in the database.
    case unknownTimeZone = "UNKNOWN_TIME_ZONE"
    /// A number that a rule, an interest key or a template reads is an integer of more than 64 bits.
    case inexactNumber = "INEXACT_NUMBER"
    /// The record's key and its content name different devices.
    case keyMismatch = "KEY_MISMATCH"
    /// Two instances of one device have the same id.
    case duplicateInstance = "DUPLICATE_INSTANCE"
  }

  /// The kind of mistake.
  public var code: Code
  /// The place of the mistake: `$.widgets[2].id` in a JSON value, `ce_id` for a header, `key` for the record's key.
  public var path: String
  /// The message: what was wrong and what was expected.
  public var message: String

  /// Creates an error.
  public init(_ code: Code, path: String, message: String) {
    self.code = code
    self.path = path
    self.message = message
  }
}

extension DomainError {
  /// Makes the error of an event with a number that the policy reads and that has more than 64 bits.
  /// - Parameter field: The path of the number, such as `data.orderId`.
  package static func inexactNumber(at field: Identifier) -> DomainError {
    DomainError(
      .inexactNumber, path: "$.\(field)",
      message: "expected an integer of at most 64 bits, because the policy reads it; send a longer one as a text")
  }
}

extension DomainError: CustomStringConvertible {
  /// The place and the message: `$.widgets[2].id: expected a string, found a number`
  public var description: String { "\(path): \(message)" }
}

extension DomainError: JSONErrorConvertible {
  /// Converts an error of reading JSON.
  public init(_ error: JSONError) {
    let code: Code =
      switch error.kind {
      case .malformed, .truncated, .trailingContent, .numberRange, .outOfMemory: .invalidJSON
      case .invalidUTF8: .invalidUTF8
      case .tooLarge: .tooLarge
      case .tooDeep: .tooDeep
      case .missing: .missingField
      case .wrongType: .wrongType
      case .wrongValue: .invalidValue
      }
    let place = error.offset.map { "at byte \($0): " } ?? ""
    self.init(code, path: error.path, message: place + error.message)
  }
}
