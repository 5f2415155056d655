public import JSON

/// The check that a token fails. The words repeat nothing of the token.
public enum TokenRefusal: Error, Sendable, Equatable, CustomStringConvertible, JSONErrorConvertible {
  /// The token is too long.
  case tooLong
  /// The text is no signed token.
  case malformed
  /// The algorithm is none that is taken.
  case algorithm
  /// The token is of another sort, such as a logout token, or has header fields that must be understood.
  case otherSort
  /// The issuer's keys have not been read yet.
  case keysMissing
  /// The key is none of the issuer's.
  case unknownKey
  /// The key may not be used with the token's algorithm.
  case otherAlgorithm
  /// The token does not name its key, and the issuer has several.
  case unnamedKey
  /// The signature is not that of the key.
  case signature
  /// A claim is missing, or has another type.
  case claim(String)
  /// The issuer is another one.
  case issuer(expected: String)
  /// The token is for others.
  case audience(expected: String)
  /// The token has expired. The subject is certain, because the signature is right.
  case expired(subject: String)
  /// The token cannot be used yet.
  case notYetValid

  /// Converts an error of reading JSON.
  public init(_ error: JSONError) { self = .malformed }

  /// The name of the check, for metrics.
  public var check: String {
    switch self {
    case .tooLong: "too_long"
    case .malformed: "malformed"
    case .algorithm, .otherAlgorithm: "algorithm"
    case .otherSort: "type"
    case .keysMissing: "keys_missing"
    case .unknownKey, .unnamedKey: "unknown_key"
    case .signature: "signature"
    case .claim: "claim"
    case .issuer: "issuer"
    case .audience: "audience"
    case .expired: "expired"
    case .notYetValid: "not_yet_valid"
    }
  }

  /// The names of all checks.
  static let checks = [
    "too_long", "malformed", "algorithm", "type", "keys_missing", "unknown_key", "signature", "claim", "issuer",
    "audience", "expired", "not_yet_valid",
  ]

  /// The reason in lower case, and what to do.
  public var description: String {
    switch self {
    case .tooLong: "the token has more than \(TokenVerifier.tokenBytesMax) bytes; ask the issuer for fewer claims"
    case .malformed: "the token is no JSON Web Token with a signature (RFC 7519)"
    case .algorithm: "the token's algorithm (alg) is none of \(SignatureAlgorithm.names)"
    case .otherSort: "the token's header says that it is no access token or ID token (typ), or has extensions (crit)"
    case .keysMissing: "the issuer's keys could not be read yet; try again"
    case .unknownKey: "the token's key (kid) is none of the issuer's; if the issuer has new keys, try again in a minute"
    case .otherAlgorithm: "the token's key (kid) may not be used with its algorithm (alg)"
    case .unnamedKey: "the token does not name its key (kid), and the issuer has several"
    case .signature: "the token's signature is not that of its key"
    case .claim(let words): "the token's claim \(words)"
    case .issuer(let expected): "the token's issuer (iss) is not \(expected)"
    case .audience(let expected): "the token is for others (aud), expected \(expected)"
    case .expired: "the token has expired (exp); ask the issuer for a new one"
    case .notYetValid: "the token cannot be used yet (nbf); are the clocks right?"
    }
  }
}
