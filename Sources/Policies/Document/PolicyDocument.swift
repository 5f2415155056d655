import Domain

/// A policy document that was read without an error: the policy, the warnings, and the place of each value.
///
/// The text is complete: a profile follows the policy. So its meaning does not depend on the release that reads it from the
/// log, and the hash covers both.
public struct PolicyDocument: Sendable {
  /// The policy.
  public let policy: Policy
  /// The complete text, as a policy record holds it: the policy, a line `---`, and always its profile, also if the document
  /// only named it.
  public let text: String
  /// The name that the document was read under.
  public let file: String
  /// The warnings, in the order of the document.
  public let warnings: [PolicyProblem]
  /// The place of each value of the document, by path.
  let positions: PlacesByPath
  /// The profile that the document names, before `limits` changes it.
  let profile: BudgetProfile
  /// The expected content of a document, in words for error messages.
  static let expectation = "a policy with version and kinds"

  /// Reads a YAML document, and appends the profile that it names unless a profile follows already.
  /// - Parameters:
  ///   - yaml: the text of the document.
  ///   - file: the name that messages use.
  /// - Throws: `PolicyError` with every problem found.
  public init(yaml: String, file: String) throws(PolicyError) {
    try self.init(bytes: Array(yaml.utf8), file: file)
  }

  /// Reads the bytes of a YAML document, and appends the profile that it names unless a profile follows already.
  /// - Parameters:
  ///   - bytes: the bytes, which need not be valid in any way.
  ///   - file: the name that messages use.
  /// - Throws: `PolicyError` with every problem found; also if the document names a file as its profile.
  public init(bytes: [UInt8], file: String) throws(PolicyError) {
    guard case .builtIn(let name) = try Self.profileReference(in: bytes, file: file),
      let profile = PolicyProfiles.named(name)
    else {
      try self.init(whole: bytes, file: file)
      return
    }
    try self.init(bytes: bytes, file: file, profile: profile)
  }

  /// Reads a policy record of the log or of the state.
  /// - Parameters:
  ///   - text: the text of the record.
  ///   - file: the name that messages use.
  /// - Throws: `PolicyError` with every problem found; also if no profile follows the policy.
  public init(record text: String, file: String) throws(PolicyError) {
    let bytes = Array(text.utf8)
    guard try Self.profileReference(in: bytes, file: file) == .follows else {
      throw PolicyError(
        YAMLTree.Refusal(
          position: .start,
          message: "no profile follows the policy; apply the policy with rouse policy apply, which adds the profile"),
        file: file)
    }
    try self.init(whole: bytes, file: file)
  }

  /// Reads a policy, and the profile that follows it if there is one.
  init(whole bytes: [UInt8], file: String) throws(PolicyError) {
    let root: Located
    let source: SourceText
    let profileSource: SourceText?
    do throws(YAMLTree.Refusal) {
      (source, profileSource) = try SourceText(bytes: bytes).parts
      root = Located(
        path: "", node: try YAMLTree.root(of: source, expected: Self.expectation), owner: .start)
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
