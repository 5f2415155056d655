public import Domain

/// The claims of a token whose signature was right. It has neither the token nor its signature.
public struct VerifiedToken: Sendable, Equatable {
  /// The subject (`sub`).
  public let subject: String
  /// The values of the claim with the roles.
  public let values: [String]
  /// The time from which on the token does not work (`exp`), without the tolerance for clocks.
  public let expires: Timestamp
  /// The fingerprint of the key that has signed it.
  let keyFingerprint: String
}
