public import JSON

/// Why a record from outside was refused: the reason on its dead letter.
public struct DomainError: Error, Equatable, Sendable {
  /// What kind of mistake it is. A code never changes its meaning.
  public enum Code: String, Sendable, CaseIterable {
    case invalidJSON = "INVALID_JSON"
    case invalidUTF8 = "INVALID_UTF8"
    /// More bytes than `DomainBounds.recordBytesMax`.
    case tooLarge = "TOO_LARGE"
    /// More levels than `DomainBounds.nestingMax`.
    case tooDeep = "TOO_DEEP"
    case missingField = "MISSING_FIELD"
    case wrongType = "WRONG_TYPE"
    /// The right type, but not one of the values that are allowed.
    case invalidValue = "INVALID_VALUE"
    /// Longer or more than a bound of `DomainBounds`.
    case outOfBounds = "OUT_OF_BOUNDS"
    /// A CloudEvents type that this topic does not take.
    case unknownType = "UNKNOWN_TYPE"
    case unsupportedSpecversion = "UNSUPPORTED_SPECVERSION"
    case unsupportedContentType = "UNSUPPORTED_CONTENT_TYPE"
    case unknownTimeZone = "UNKNOWN_TIME_ZONE"
    /// The record's key and its content name different devices.
    case keyMismatch = "KEY_MISMATCH"
    /// Two instances of one device have the same id.
    case duplicateInstance = "DUPLICATE_INSTANCE"
  }

  public var code: Code
  /// `$.widgets[2].id` in a JSON value, `ce_id` for a header, `key` for the record's key.
  public var path: String
  /// What was wrong and what was expected.
  public var message: String

  public init(_ code: Code, path: String, message: String) {
    self.code = code
    self.path = path
    self.message = message
  }
}

extension DomainError: CustomStringConvertible {
  /// `$.widgets[2].id: expected a string, found a number`
  public var description: String { "\(path): \(message)" }
}

extension DomainError: JSONErrorConvertible {
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
