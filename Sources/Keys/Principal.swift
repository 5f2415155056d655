public import Serving

/// The sender of a request, as a key or a token proves it.
public struct Principal: Sendable {
  /// The id of the key, or the subject of the token. Access records and policy records show it.
  public let name: String
  /// The proof, as messages name it.
  public let credential: CredentialKind
  /// The roles with their bounds. A key has one, a token any number.
  public let grants: [RoleGrant]
  /// The rate; nil if there is no limit.
  public let bucket: TokenBucket?

  public var roles: Set<KeyRole> { Set(grants.map(\.role)) }

  /// Returns the grants of a role.
  ///
  /// - Parameter role: The role.
  public func grants(of role: KeyRole) -> [RoleGrant] { grants.filter { $0.role == role } }

  /// Returns the refusal of an operation for which the principal has no role.
  ///
  /// - Parameter roles: The roles of which the operation needs one.
  public func refusal(needing roles: KeyRole...) -> Problem { refusal(needing: roles) }

  /// Returns the refusal of an operation for which the principal has no role.
  ///
  /// - Parameter roles: The roles of which the operation needs one.
  public func refusal(needing roles: [KeyRole]) -> Problem {
    let found = grants.isEmpty ? "none" : grants.map(\.role.rawValue).sorted().joined(separator: ", ")
    let needed = roles.map(\.rawValue).joined(separator: " or ")
    return Problem(.forbidden, "the operation needs a \(credential) with the role \(needed), this one has \(found)")
  }
}

/// The kinds of what a client sends to say who it is.
public enum CredentialKind: String, Sendable, CaseIterable, CustomStringConvertible {
  /// A key of the key file.
  case key
  /// A token of the issuer.
  case token

  /// The word of messages.
  public var description: String { rawValue }
}
