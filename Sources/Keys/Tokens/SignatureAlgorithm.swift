/// The algorithms by which a token may be signed (RFC 7518, 3.1 and RFC 8037, 3.1). Each has a public and a private key: whoever can check a
/// token cannot make one. So `HS256` and its like, and `none`, are not among them.
enum SignatureAlgorithm: String, CaseIterable, Sendable {
  case rs256 = "RS256"
  case rs384 = "RS384"
  case rs512 = "RS512"
  case ps256 = "PS256"
  case ps384 = "PS384"
  case ps512 = "PS512"
  case es256 = "ES256"
  case es384 = "ES384"
  case es512 = "ES512"
  case edDSA = "EdDSA"

  /// The algorithms of an RSA key that is not bound to one.
  static let rsa: [SignatureAlgorithm] = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]

  /// The names of all algorithms, for messages.
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
