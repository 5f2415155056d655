/// The identity of the policy that decided: its version and its content hash.
public struct PolicyReference: Hashable, Sendable {
  /// The `version` of the policy document.
  public var version: String
  /// The first 16 hexadecimal digits of the SHA-256 of the policy document and its profile.
  public var hash: String

  /// Creates a reference. Nothing is checked.
  public init(version: String, hash: String) {
    self.version = version
    self.hash = hash
  }
}
