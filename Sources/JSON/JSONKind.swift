/// The type of a JSON value.
public enum JSONKind: Sendable { case null, bool, number, string, array, object }

extension JSONKind: CustomStringConvertible {
  /// The type with its article, as error messages name it.
  public var description: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
