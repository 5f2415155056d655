import Domain

/// A policy document that was read without an error: the policy, the warnings, and the place of each value.
public struct PolicyDocument: Sendable {
  /// The policy.
  public let policy: Policy
  /// The text of the document, with the profile that follows it.
  public let text: String
  /// The name that the document was read under.
  public let file: String
  /// The warnings, in the order of the document.
  public let warnings: [PolicyProblem]
  /// The place of each value of the document, by path.
  let positions: PlacesByPath
  /// The profile that the document names, before `limits` changes it.
  let profile: BudgetProfile

  /// Reads a YAML document, which a profile may follow after a line `---`.
  /// - Parameters:
  ///   - yaml: the text of the document.
  ///   - file: the name that messages use.
  /// - Throws: `PolicyError` with every problem found.
  public init(yaml: String, file: String) throws(PolicyError) {
    try self.init(bytes: Array(yaml.utf8), file: file)
  }

  /// Reads the bytes of a YAML document, which a profile may follow after a line `---`.
  /// - Parameters:
  ///   - bytes: the bytes, which need not be valid in any way.
  ///   - file: the name that messages use.
  /// - Throws: `PolicyError` with every problem found.
  public init(bytes: [UInt8], file: String) throws(PolicyError) {
    let root: Located
    let source: SourceText
    let profileSource: SourceText?
    do throws(YAMLTree.Refusal) {
      (source, profileSource) = try SourceText(bytes: bytes).parts
      root = Located(
        path: "", node: try YAMLTree.root(of: source, expected: "a policy with version and kinds"), owner: .start)
    } catch {
      throw PolicyError(error, file: file)
    }
    var following: ProfileDocument?
    if let profileSource { following = try ProfileDocument(profileSource, file: file, path: "profile") }
    let hash = String(SHA256.hexDigest(of: bytes).prefix(16))
    var decoder = PolicyDecoder(reader: StrictReader(file: file, source: source), hash: hash)
    decoder.following = following?.profile
    guard let decoded = decoder.decode(root), !decoder.reader.hasErrors else {
      throw PolicyError(problems: decoder.reader.sortedProblems)
    }
    PolicyWarnings.note(decoded.policy, in: &decoder.reader)
    self.policy = decoded.policy
    self.text = String(decoding: bytes, as: UTF8.self)
    self.file = file
    self.warnings = decoder.reader.sortedProblems
    self.positions = decoder.reader.positions
    self.profile = decoded.profile
  }
}
