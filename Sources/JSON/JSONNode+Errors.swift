extension JSONNode {
  /// The path of this value in its document, such as `$.widgets[2].id`. It is found by walking from the root, so that only
  /// errors pay for it.
  public var path: String {
    var path = "$"
    var container = at(0)
    while container.index < index, let step = container.step(towards: index) {
      path += step.name
      container = step.node
    }
    return path
  }

  /// Returns the child that is the node at the index `target` or contains it, and the child's step in a path.
  private func step(towards target: Int) -> (name: String, node: JSONNode)? {
    switch kind {
    case .array:
      var position = 0
      for element in elements {
        if element.next > target { return ("[\(position)]", element) }
        position += 1
      }
    case .object:
      for (key, value) in members where value.next > target {
        return (JSONNode.pathStep(key.stringIfAny ?? ""), value)
      }
    case .null, .bool, .number, .string: break
    }
    return nil
  }

  /// Returns the step of a path to a member: `.name`, or `["odd name"]` for a name that could be misread.
  static func pathStep(_ key: String) -> String {
    let plain = !key.isEmpty && key.utf8.count <= 64 && key.utf8.allSatisfy { isNameByte($0) }
    if plain { return ".\(key)" }
    var writer = JSONWriter()
    writer.string(String(key.prefix(64)))
    return "[\(writer.text)]"
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), 0x80...:
      true
    default: false
    }
  }

  /// Makes the error for a value of the wrong type.
  /// - Parameter expected: The expected thing with its article, such as `a string`.
  public func wrongType(_ expected: String) -> JSONError {
    JSONError(kind: .wrongType, path: path, expected: expected, found: "\(kind)")
  }

  /// Makes the error for a value of the right type that is not allowed. The error shows at most 64 characters of the value.
  /// - Parameter expected: The expected thing with its article.
  public func wrongValue(_ expected: String) -> JSONError {
    JSONError(kind: .wrongValue, path: path, expected: expected, found: excerpt)
  }

  /// Makes the error for an object without a required member.
  /// - Parameters:
  ///   - key: The member's key.
  ///   - expected: The expected value with its article.
  public func missing(_ key: String, expected: String) -> JSONError {
    JSONError(kind: .missing, path: path + JSONNode.pathStep(key), expected: expected)
  }

  private var excerpt: String {
    switch kind {
    case .array, .object: return "\(kind)"
    case .string:
      let text = stringIfAny ?? ""
      var writer = JSONWriter()
      writer.string(text.count > 64 ? String(text.prefix(64)) + "…" : text)
      return writer.text
    case .null, .bool, .number:
      var writer = JSONWriter()
      writer.value(self)
      return writer.text
    }
  }
}
