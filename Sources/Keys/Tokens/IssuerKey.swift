import Crypto
import CryptoExtras

/// A public key of the issuer, with the algorithms that it may be used with.
struct IssuerKey: Sendable {
  /// The numbers of a key.
  enum Material: Sendable {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
    case p384(P384.Signing.PublicKey)
    case p521(P521.Signing.PublicKey)
    case ed25519(Curve25519.Signing.PublicKey)
  }

  /// The id (`kid`); nil if the key has none.
  let id: String?
  /// The algorithms that it may be used with.
  let algorithms: [SignatureAlgorithm]
  /// A hash of the whole key: two keys with one id differ in it.
  let fingerprint: String
  private let material: Material

  /// The fewest bits of an RSA key (RFC 7518, 3.3).
  private static let rsaBitsMin = 2048
  /// The most bits of an RSA key. A check costs four times as much with each doubling.
  /// - Beyond: the key is not used.
  static let rsaBitsMax = 8192

  /// Makes a key.
  ///
  /// - Parameters:
  ///   - id: The id; nil if the key has none.
  ///   - material: The numbers.
  ///   - algorithm: The only algorithm that it may be used with; nil for each that fits.
  ///   - fingerprint: A hash of the whole key.
  /// - Returns: nil if the algorithm does not fit the key.
  init?(id: String?, _ material: Material, algorithm: SignatureAlgorithm?, fingerprint: String) {
    let fitting: [SignatureAlgorithm]
    switch material {
    case .rsa: fitting = SignatureAlgorithm.rsa
    case .p256: fitting = [.es256]
    case .p384: fitting = [.es384]
    case .p521: fitting = [.es512]
    case .ed25519: fitting = [.edDSA]
    }
    if let algorithm, !fitting.contains(algorithm) { return nil }
    self.id = id
    self.material = material
    self.fingerprint = fingerprint
    algorithms = algorithm.map { [$0] } ?? fitting
  }

  /// Makes the numbers of an RSA key.
  ///
  /// - Parameters:
  ///   - modulus: The modulus, big-endian.
  ///   - exponent: The public exponent, big-endian.
  /// - Returns: nil if these are no key, or one that is too small or too large.
  static func rsa(modulus: [UInt8], exponent: [UInt8]) -> Material? {
    guard let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent),
      (rsaBitsMin...rsaBitsMax).contains(key.keySizeInBits)
    else { return nil }
    return .rsa(key)
  }

  /// Makes the numbers of a key of an elliptic curve.
  ///
  /// - Parameters:
  ///   - curve: The name of the curve, as JSON Web Keys have it.
  ///   - x: The coordinate, big-endian; all of the key for Ed25519.
  ///   - y: The other coordinate; nil for Ed25519.
  /// - Returns: nil if this is no point of the curve, or the curve is none of tokens.
  static func point(curve: String, x: [UInt8], y: [UInt8]?) -> Material? {
    let point = [0x04] + x + (y ?? [])
    switch curve {
    case "P-256": return (try? P256.Signing.PublicKey(x963Representation: point)).map { .p256($0) }
    case "P-384": return (try? P384.Signing.PublicKey(x963Representation: point)).map { .p384($0) }
    case "P-521": return (try? P521.Signing.PublicKey(x963Representation: point)).map { .p521($0) }
    case "Ed25519": return (try? Curve25519.Signing.PublicKey(rawRepresentation: x)).map { .ed25519($0) }
    case _: return nil
    }
  }

  /// Whether a signature is that of a text.
  ///
  /// - Parameters:
  ///   - signature: The signature, in the form that JSON Web Signatures have.
  ///   - text: The signed bytes.
  ///   - algorithm: The algorithm, one of the key's.
  func isValid(_ signature: [UInt8], of text: [UInt8], _ algorithm: SignatureAlgorithm) -> Bool {
    guard algorithms.contains(algorithm) else { return false }
    switch material {
    case .rsa(let key): return Self.isValid(signature, of: text, algorithm, key)
    case .p256(let key):
      guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
      return key.isValidSignature(signature, for: SHA256.hash(data: text))
    case .p384(let key):
      guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
      return key.isValidSignature(signature, for: SHA384.hash(data: text))
    case .p521(let key):
      guard let signature = try? P521.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
      return key.isValidSignature(signature, for: SHA512.hash(data: text))
    case .ed25519(let key): return key.isValidSignature(signature, for: text)
    }
  }

  private static func isValid(
    _ signature: [UInt8], of text: [UInt8], _ algorithm: SignatureAlgorithm, _ key: _RSA.Signing.PublicKey
  ) -> Bool {
    let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
    switch algorithm {
    case .rs256: return key.isValidSignature(signature, for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5)
    case .rs384: return key.isValidSignature(signature, for: SHA384.hash(data: text), padding: .insecurePKCS1v1_5)
    case .rs512: return key.isValidSignature(signature, for: SHA512.hash(data: text), padding: .insecurePKCS1v1_5)
    case .ps256: return key.isValidSignature(signature, for: SHA256.hash(data: text), padding: .PSS)
    case .ps384: return key.isValidSignature(signature, for: SHA384.hash(data: text), padding: .PSS)
    case .ps512: return key.isValidSignature(signature, for: SHA512.hash(data: text), padding: .PSS)
    case .es256, .es384, .es512, .edDSA: return false
    }
  }
}

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
