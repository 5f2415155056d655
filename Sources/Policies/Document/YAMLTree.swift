import Yams

/// A place in a document. Lines and columns count from 1, columns in Unicode scalars.
struct Position: Hashable, Comparable, Sendable {
  var line: Int
  var column: Int
  /// The first character.
  static let start = Position(line: 1, column: 1)
  static func < (a: Position, b: Position) -> Bool { (a.line, a.column) < (b.line, b.column) }
}

/// A YAML value with its place. Plain scalars are not resolved: the reader of a key decides whether `5m` or `on` is a text.
struct YAMLNode {
  enum Content {
    /// A text. A plain one is written without quotation marks, so it may mean a number or a boolean.
    case scalar(text: String, plain: Bool)
    case list([YAMLNode])
    case mapping([Entry])
  }
  struct Entry {
    var key: String
    var keyPosition: Position
    var value: YAMLNode
  }
  var position: Position
  var content: Content
}

/// Reads the subset of YAML that a policy needs: one document, text keys, no anchors, aliases or tags.
struct YAMLTree {
  /// A mistake and its place.
  struct Refusal: Error {
    var position: Position
    var message: String

    /// Returns the same mistake with the nearest place that exists in the document.
    func clamped(in source: SourceText) -> Refusal {
      Refusal(position: source.clamped(position), message: message)
    }
  }

  /// The character that replaces every `*` while libyaml reads, so that there are no aliases, which could multiply. Scalars get
  /// their `*` back afterwards. libyaml takes the character for a printable one, one column wide as `*` is, and `SourceText`
  /// refuses documents that contain it.
  private static let asterisk: Unicode.Scalar = "\u{E000}"

  private var values = 0

  /// Reads a document that `SourceText` has accepted. libyaml stops at 1,000 levels, which take less than 1 MiB of stack in a
  /// debug build; a thread has 8 MiB by default.
  /// - Returns: the root; nil for a document without content.
  /// - Throws: the first mistake, with a place in the document.
  static func load(_ source: SourceText) throws(Refusal) -> YAMLNode? {
    var disarmed = ""
    for scalar in source.text.unicodeScalars { disarmed.unicodeScalars.append(scalar == "*" ? asterisk : scalar) }
    do {
      let parser = try Parser(yaml: disarmed, resolver: .basic, encoding: .utf8)
      // Nodes refer weakly to their anchors, which the parser owns.
      return try withExtendedLifetime(parser) {
        guard let root = try parser.singleRoot() else { return nil }
        var tree = YAMLTree()
        return try tree.convert(root, depth: 1)
      }
    } catch let refusal as Refusal {
      throw refusal.clamped(in: source)
    } catch let error as YamlError {
      throw refusal(for: error, in: source).clamped(in: source)
    } catch {
      throw Refusal(position: .start, message: "not YAML: \(error)")
    }
  }

  /// Reads a document that must not be empty.
  /// - Parameter expected: what the document should contain, for the message about an empty one.
  /// - Throws: the first mistake.
  static func root(of source: SourceText, expected: String) throws(Refusal) -> YAMLNode {
    let empty = Refusal(position: .start, message: "the document is empty; expected \(expected)")
    guard let root = try load(source) else { throw empty }
    if case .scalar("", plain: true) = root.content { throw empty }
    return root
  }

  private mutating func convert(_ node: Node, depth: Int) throws -> YAMLNode {
    let position = Self.position(node.mark)
    values += 1
    guard values <= PolicyBounds.valuesMax else {
      throw Refusal(position: position, message: "more than \(PolicyBounds.valuesMax) values; split the policy")
    }
    guard depth <= PolicyBounds.nestingMax else {
      throw Refusal(position: position, message: "nested deeper than \(PolicyBounds.nestingMax) levels")
    }
    switch node {
    case .scalar(let scalar):
      try refuseProperties(anchor: scalar.anchor, tag: scalar.tag, at: position)
      if scalar.style == .plain, scalar.string.unicodeScalars.first == Self.asterisk {
        throw Refusal(
          position: position,
          message: "an unquoted * begins a YAML alias, which a policy cannot use; put the text in quotation marks")
      }
      let isText = scalar.style != .plain || scalar.tag.description == Tag.Name.str.rawValue
      return YAMLNode(position: position, content: .scalar(text: Self.restored(scalar.string), plain: !isText))
    case .sequence(let sequence):
      try refuseProperties(anchor: sequence.anchor, tag: sequence.tag, at: position)
      return YAMLNode(
        position: position, content: .list(try sequence.map { try convert($0, depth: depth + 1) }))
    case .mapping(let mapping):
      try refuseProperties(anchor: mapping.anchor, tag: mapping.tag, at: position)
      return YAMLNode(position: position, content: .mapping(try mapping.map { try entry($0.key, $0.value, depth) }))
    case .alias:
      throw Refusal(position: position, message: "YAML aliases cannot be used in a policy; write the value out")
    }
  }

  private mutating func entry(_ key: Node, _ value: Node, _ depth: Int) throws -> YAMLNode.Entry {
    guard case .scalar(let text, _) = try convert(key, depth: depth + 1).content else {
      throw Refusal(position: Self.position(key.mark), message: "expected a text as key, found a list or a mapping")
    }
    return YAMLNode.Entry(
      key: text, keyPosition: Self.position(key.mark), value: try convert(value, depth: depth + 1))
  }

  private func refuseProperties(anchor: Anchor?, tag: Tag, at position: Position) throws {
    if let anchor {
      throw Refusal(
        position: position, message: "YAML anchors cannot be used in a policy: remove &\(anchor.rawValue)")
    }
    let name = tag.description
    // Yams gives these three tags to values that have none.
    let natural = [Tag.Name.str, .seq, .map].map(\.rawValue)
    if !name.isEmpty, !natural.contains(name) {
      throw Refusal(
        position: position, message: "YAML tags cannot be used in a policy: remove the tag \(Excerpt.quoted(name))")
    }
  }

  private static func position(_ mark: Mark?) -> Position {
    mark.map { Position(line: $0.line, column: $0.column) } ?? .start
  }

  private static func restored(_ text: String) -> String {
    guard text.unicodeScalars.contains(asterisk) else { return text }
    var restored = ""
    for scalar in text.unicodeScalars { restored.unicodeScalars.append(scalar == asterisk ? "*" : scalar) }
    return restored
  }

  private static func refusal(for error: YamlError, in source: SourceText) -> Refusal {
    switch error {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      if problem.hasPrefix("Maximum nesting level") {
        return Refusal(position: position(mark), message: "nested deeper than \(PolicyBounds.nestingMax) levels")
      }
      if problem.hasPrefix("but found another document") {
        return Refusal(
          position: position(mark),
          message: "another document begins here; expected one policy, which one profile may follow")
      }
      let around = context.map { " (\($0.text), line \($0.mark.line))" } ?? ""
      let hint = source.scalar(at: position(mark)) == "\t" ? "; indent with spaces, not with tabs" : ""
      return Refusal(position: position(mark), message: "not YAML: \(problem)\(around)\(hint)")
    case .duplicatedKeysInMapping(let duplicates, let context):
      let names = duplicates.map { Excerpt.quoted(restored($0)) }.joined(separator: ", ")
      return Refusal(
        position: position(context.mark), message: "given more than once in the same mapping: \(names); keep one")
    default:
      return Refusal(position: .start, message: "not YAML: \(error)")
    }
  }
}
