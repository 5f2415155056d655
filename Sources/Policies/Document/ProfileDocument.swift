/// A budget profile as a text: a platform's limits in a YAML file of their own (`schemas/profile.schema.json`).
public struct ProfileDocument: Sendable {
  public let profile: BudgetProfile
  /// As it stands in the file, without a byte order mark.
  public let text: String
  /// The name it was read under.
  public let file: String
  let namePosition: Position

  /// Reads the bytes of a file; throws every problem found, each with its place.
  public init(bytes: [UInt8], file: String) throws(PolicyError) {
    let source: SourceText
    do throws(YAMLTree.Refusal) {
      source = try SourceText(bytes: bytes)
    } catch {
      throw PolicyError(error, file: file)
    }
    try self.init(source, file: file, path: "")
  }

  /// - Parameter path: what the paths of problems begin with.
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

/// What a policy says about its profile.
public enum ProfileReference: Equatable, Sendable {
  /// One that comes with this version, by name; the default where the policy says nothing.
  case builtIn(String)
  /// A file; line and column of the value, from 1.
  case file(path: String, line: Int, column: Int)
  /// The profile itself follows the policy, as a second document.
  case follows

  /// Whether a name is a path: it has a / or ends like a YAML file.
  public static func isPath(_ name: String) -> Bool {
    name.utf8.contains(UInt8(ascii: "/")) || name.hasSuffix(".yaml") || name.hasSuffix(".yml")
  }
}

extension PolicyDocument {
  /// What the line between a policy and its profile says.
  private static let separator = "--- # the profile\n"

  /// What a policy says about its profile, whatever else is wrong with it; throws where the text is not YAML.
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

  /// A policy together with a profile: `text` is both, one after the other, and the hash covers both. Read again, it
  /// needs nothing else, so it means the same wherever the log is read.
  /// - Parameter profile: takes the place of one that follows the policy already.
  public init(bytes: [UInt8], file: String, profile: ProfileDocument) throws(PolicyError) {
    var text: String
    do throws(YAMLTree.Refusal) {
      text = try SourceText(bytes: bytes).parts.policy.text
    } catch {
      throw PolicyError(error, file: file)
    }
    if let last = text.unicodeScalars.last, !SourceText.isLineEnd(last) { text += "\n" }
    try self.init(bytes: Array((text + Self.separator + profile.text).utf8), file: file)
  }
}

extension SourceText {
  /// A policy, and the profile that may follow it after a line `---`. The places in both are those in the whole.
  var parts: (policy: SourceText, profile: SourceText?) {
    func isMarker(_ line: String.UnicodeScalarView.SubSequence) -> Bool {
      line.starts(with: "---".unicodeScalars) && line.dropFirst(3).first.map { $0 == " " || $0 == "\t" } != false
    }
    // A first marker opens the policy itself.
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
