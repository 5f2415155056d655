/// The identity of the policy that decided: its version and its content hash.
public struct PolicyReference: Hashable, Sendable {
  /// The `version` of the policy document.
  public var version: Identifier
  /// The first 16 hexadecimal digits of the SHA-256 of the policy document and its profile.
  public var hash: Identifier

  /// Creates a reference. Nothing is checked.
  public init(version: Identifier, hash: Identifier) {
    self.version = version
    self.hash = hash
  }
}
