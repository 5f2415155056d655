/// A policy document that was read without an error: the policy, what deserves a second look, and where each value stands.
public struct PolicyDocument: Sendable {
  public let policy: Policy
  /// The document as it stood, with the profile that follows it.
  public let text: String
  /// The name it was read under.
  public let file: String
  /// By position.
  public let warnings: [PolicyProblem]
  /// Where each value of the document stands, by path.
  let positions: [String: Position]
  /// The profile that was named, before `limits` changed it.
  let profile: BudgetProfile

  /// Reads a YAML document, which a profile may follow after a line `---`; `file` is the name that messages use. Throws
  /// every problem found.
  public init(yaml: String, file: String) throws(PolicyError) {
    try self.init(bytes: Array(yaml.utf8), file: file)
  }

  /// Reads the bytes of a YAML document, which need not be valid in any way.
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
