import JSON

extension JSONValue {
  /// The text, if it is one.
  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }
}
