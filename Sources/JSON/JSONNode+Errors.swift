extension JSONNode {
  /// Where this value stands: `$.widgets[2].id`. Found by walking from the root, so it costs something only where an
  /// error is made.
  public var path: String {
    var path = "$"
    var container = at(0)
    while container.index < index, let step = container.step(towards: index) {
      path += step.name
      container = step.node
    }
    return path
  }

  /// The child that is, or holds, the node at `target`.
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
    default: break
    }
    return nil
  }

  /// `.name`, or `["odd name"]` where a plain name would be misread.
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

  /// This value has another type than `expected`.
  public func wrongType(_ expected: String) -> JSONError {
    JSONError(kind: .wrongType, path: path, expected: expected, found: "\(kind)")
  }

  /// This value has the right type and cannot be used all the same; what was found is shown, at most 64 characters.
  public func wrongValue(_ expected: String) -> JSONError {
    JSONError(kind: .wrongValue, path: path, expected: expected, found: excerpt)
  }

  /// This object lacks `key`.
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
    default:
      var writer = JSONWriter()
      writer.value(self)
      return writer.text
    }
  }
}
