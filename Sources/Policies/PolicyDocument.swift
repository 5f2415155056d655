/// A policy document that was read without an error: the policy, what deserves a second look, and where each value stands.
public struct PolicyDocument: Sendable {
  public let policy: Policy
  /// The document as it stood.
  public let text: String
  /// The name it was read under.
  public let file: String
  /// By position.
  public let warnings: [PolicyProblem]
  /// Where each value of the document stands, by path.
  let positions: [String: Position]
  /// The profile that was named, before `limits` changed it.
  let profile: BudgetProfile

  /// Reads a YAML document; `file` is the name that messages use. Throws every problem found.
  public init(yaml: String, file: String) throws(PolicyError) {
    try self.init(bytes: Array(yaml.utf8), file: file)
  }

  /// Reads the bytes of a YAML document, which need not be valid in any way.
  public init(bytes: [UInt8], file: String) throws(PolicyError) {
    let root: Located
    let source: SourceText
    do throws(YAMLTree.Refusal) {
      source = try SourceText(bytes: bytes)
      root = Located(path: "", node: try Self.root(of: source), owner: .start)
    } catch {
      throw PolicyError(problems: [Self.problem(error, file: file)])
    }
    let hash = String(SHA256.hexDigest(of: bytes).prefix(16))
    var decoder = PolicyDecoder(reader: StrictReader(file: file, source: source), hash: hash)
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

  private static func root(of source: SourceText) throws(YAMLTree.Refusal) -> YAMLNode {
    let empty = YAMLTree.Refusal(
      position: .start, message: "the document is empty; expected a policy with version and kinds")
    do throws(YAMLTree.Refusal) {
      guard let root = try YAMLTree.load(source) else { throw empty }
      if case .scalar("", plain: true) = root.content { throw empty }
      return root
    } catch {
      throw YAMLTree.Refusal(position: source.clamped(error.position), message: error.message)
    }
  }

  private static func problem(_ refusal: YAMLTree.Refusal, file: String) -> PolicyProblem {
    PolicyProblem(
      severity: .error, file: file, line: refusal.position.line, column: refusal.position.column, path: "",
      message: refusal.message)
  }
}
