public import Domain

/// The tokens that are accepted.
public struct TokenSettings: Sendable, Equatable {
  /// The issuer, exactly as tokens have it (`iss`).
  public var issuer: String
  /// The audience that tokens must name (`aud`).
  public var audience: String
  /// The claim with the roles: a name, or names of nested claims with dots between them.
  public var rolesClaim = "roles"
  /// The tolerance for the clocks of the issuer and this host.
  public var clockSkew = TimeSpan.seconds(60)

  /// Makes settings with the default claim and tolerance.
  ///
  /// - Parameters:
  ///   - issuer: The issuer.
  ///   - audience: The audience.
  public init(issuer: String, audience: String) {
    self.issuer = issuer
    self.audience = audience
  }
}
