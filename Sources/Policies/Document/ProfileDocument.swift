/// A budget profile with its text: a platform's limits in a separate YAML file (`schemas/profile.schema.json`).
public struct ProfileDocument: Sendable {
  /// The profile.
  public let profile: BudgetProfile
  /// The text of the file, without a byte order mark.
  public let text: String
  /// The name that the file was read under.
  public let file: String
  /// The place of the profile's name.
  let namePosition: Position

  /// Reads the bytes of a file.
  /// - Parameters:
  ///   - bytes: the bytes, which need not be valid in any way.
  ///   - file: the name that messages use.
  /// - Throws: `PolicyError` with every problem found, each with its place.
  public init(bytes: [UInt8], file: String) throws(PolicyError) {
    let source: SourceText
    do throws(YAMLTree.Refusal) {
      source = try SourceText(bytes: bytes)
    } catch {
      throw PolicyError(error, file: file)
    }
    try self.init(source, file: file, path: "")
  }

  /// Reads a profile from a text.
  /// - Parameters:
  ///   - source: the text.
  ///   - file: the name that messages use.
  ///   - path: the prefix of the paths in messages.
  /// - Throws: `PolicyError` with every problem found, each with its place.
  init(_ source: SourceText, file: String, path: String) throws(PolicyError) {
    let root: YAMLNode
    do throws(YAMLTree.Refusal) {
      root = try YAMLTree.root(of: source, expected: "a profile with name, instanceReloads and the other limits")
      if case .mapping(let entries) = root.content,
        let first = entries.first(where: { $0.key == "kinds" || $0.key == "version" })
      {
        throw YAMLTree.Refusal(
          position: first.keyPosition,
          message: "a policy begins here, where a profile with name and limits was expected")
      }
    } catch {
      throw PolicyError(error, file: file)
    }
    var decoder = PolicyDecoder(reader: StrictReader(file: file, source: source), hash: "")
    guard let profile = decoder.budgetProfile(Located(path: path, node: root, owner: root.position)) else {
      throw PolicyError(problems: decoder.reader.sortedProblems)
    }
    self.profile = profile
    text = source.text
    self.file = file
    namePosition = decoder.reader.positions[StrictReader.path(path, "name")] ?? .start
  }
}

/// The reference from a policy to its profile.
public enum ProfileReference: Equatable, Sendable {
  /// A profile that comes with this version, by name. A policy that names none refers to the default.
  case builtIn(String)
  /// A file. Line and column of the value count from 1.
  case file(path: String, line: Int, column: Int)
  /// The second document in the same file.
  case follows

  /// Whether a name is the path of a file. Paths contain a / or end in `.yaml` or `.yml`.
  public static func isPath(_ name: String) -> Bool {
    name.utf8.contains(UInt8(ascii: "/")) || name.hasSuffix(".yaml") || name.hasSuffix(".yml")
  }
}

extension PolicyDocument {
  /// The line between a policy and its profile.
  private static let separator = "--- # the profile\n"

  /// Returns the reference of a policy to its profile, even if the policy has other mistakes.
  /// - Parameters:
  ///   - bytes: the bytes of the policy.
  ///   - file: the name that messages use.
  /// - Throws: `PolicyError` if the text is not YAML.
  public static func profileReference(in bytes: [UInt8], file: String) throws(PolicyError) -> ProfileReference {
    let standard = ProfileReference.builtIn(PolicyProfiles.standard.name)
    do throws(YAMLTree.Refusal) {
      let parts = try SourceText(bytes: bytes).parts
      if parts.profile != nil { return .follows }
      guard case .mapping(let entries)? = try YAMLTree.load(parts.policy)?.content,
        let value = entries.first(where: { $0.key == "profile" })?.value, case .scalar(let text, _) = value.content
      else { return standard }
      let place = value.position
      return ProfileReference.isPath(text)
        ? .file(path: text, line: place.line, column: place.column) : .builtIn(text)
    } catch {
      throw PolicyError(error, file: file)
    }
  }

  /// Reads a policy and appends a profile.
  /// - Parameters:
  ///   - bytes: the bytes of the policy.
  ///   - file: the name that messages use.
  ///   - profile: the profile. It replaces one that follows the policy already.
  /// - Throws: `PolicyError` with every problem found.
  public init(bytes: [UInt8], file: String, profile: ProfileDocument) throws(PolicyError) {
    var text: String
    do throws(YAMLTree.Refusal) {
      let policy = try SourceText(bytes: bytes).parts.policy
      // A profile behind nothing would be read as the policy.
      _ = try YAMLTree.root(of: policy, expected: Self.expectation)
      text = policy.text
    } catch {
      throw PolicyError(error, file: file)
    }
    if let last = text.unicodeScalars.last, !SourceText.isLineEnd(last) { text += "\n" }
    try self.init(whole: Array((text + Self.separator + profile.text).utf8), file: file)
  }
}

extension SourceText {
  /// The policy, and the profile that may follow it after a line `---`. Places in both count from the start of the whole
  /// text.
  var parts: (policy: SourceText, profile: SourceText?) {
    func isMarker(_ line: String.UnicodeScalarView.SubSequence) -> Bool {
      line.starts(with: "---".unicodeScalars) && line.dropFirst(3).first.map { $0 == " " || $0 == "\t" } != false
    }
    // A marker before any content opens the policy itself.
    let content = lines.firstIndex { line in
      guard let first = line.first(where: { $0 != " " && $0 != "\t" }) else { return false }
      return first != "#" && first != "%"
    }
    guard let content, let marker = lines[(content + 1)...].firstIndex(where: isMarker), marker + 1 < lines.count
    else { return (self, nil) }
    let scalars = text.unicodeScalars
    let policy = String(scalars[..<lines[marker].startIndex])
    let profile = String(repeating: "\n", count: marker + 1) + String(scalars[lines[marker + 1].startIndex...])
    return (SourceText(checked: policy), SourceText(checked: profile))
  }
}
