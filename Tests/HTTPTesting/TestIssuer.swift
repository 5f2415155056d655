import Crypto
import CryptoExtras
package import Foundation

/// An issuer of tokens with one key, for tests.
package struct TestIssuer: Sendable {
  /// The algorithms that it can sign with, also those that no server takes.
  package enum Algorithm: String, CaseIterable, Sendable {
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
  }

  private enum PrivateKey: Sendable {
    case rsa(_RSA.Signing.PrivateKey)
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case p521(P521.Signing.PrivateKey)
    case ed25519(Curve25519.Signing.PrivateKey)
  }

  /// The issuer in its tokens.
  package static let name = "https://issuer.example"
  /// The audience in its tokens.
  package static let audience = "rouse"
  /// One RSA key for all tests, because making one takes long.
  private static let rsa = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

  /// The id of the key.
  package let keyID: String
  private let algorithm: Algorithm
  private let key: PrivateKey

  /// Makes an issuer with a key for an algorithm.
  package init(_ algorithm: Algorithm = .es256, keyID: String = "key-1") throws {
    self.keyID = keyID
    self.algorithm = algorithm
    key =
      switch algorithm {
      case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: .rsa(try Self.rsa.get())
      case .es256: .p256(P256.Signing.PrivateKey())
      case .es384: .p384(P384.Signing.PrivateKey())
      case .es512: .p521(P521.Signing.PrivateKey())
      case .edDSA: .ed25519(Curve25519.Signing.PrivateKey())
      }
  }

  /// The public key as a JSON Web Key.
  ///
  /// - Parameter more: Further members, such as `,"use":"sig"`.
  package func key(_ more: String = "") throws -> String {
    let numbers: String
    switch key {
    case .rsa(let key):
      let primitives = try key.publicKey.getKeyPrimitives()
      numbers =
        #""kty":"RSA","n":"\#(Self.base64(primitives.modulus))","e":"\#(Self.base64(primitives.publicExponent))""#
    case .p256(let key): numbers = Self.point("P-256", key.publicKey.rawRepresentation)
    case .p384(let key): numbers = Self.point("P-384", key.publicKey.rawRepresentation)
    case .p521(let key): numbers = Self.point("P-521", key.publicKey.rawRepresentation)
    case .ed25519(let key):
      numbers = #""kty":"OKP","crv":"Ed25519","x":"\#(Self.base64(key.publicKey.rawRepresentation))""#
    }
    return #"{\#(numbers),"kid":"\#(keyID)"\#(more)}"#
  }

  /// A set of the keys of issuers.
  package static func keySet(_ issuers: TestIssuer...) throws -> String {
    #"{"keys":[\#(try issuers.map { try $0.key() }.joined(separator: ","))]}"#
  }

  /// Returns the claims of a token that is in order.
  ///
  /// - Parameters:
  ///   - subject: The subject.
  ///   - roles: The values of the claim `roles`.
  ///   - expires: The time in seconds since 1970.
  ///   - more: Further members, such as `,"nbf":1`.
  package static func claims(
    _ subject: String = "anna", roles: [String] = ["auditor"], expires: Int, more: String = ""
  ) -> String {
    let list = roles.map { "\"\($0)\"" }.joined(separator: ",")
    return
      #"{"iss":"\#(name)","aud":"\#(audience)","sub":"\#(subject)","exp":\#(expires),"roles":[\#(list)]\#(more)}"#
  }

  /// Returns a token.
  ///
  /// - Parameters:
  ///   - claims: The claims, any text.
  ///   - header: The header; nil for one that is in order.
  package func token(_ claims: String, header: String? = nil) throws -> String {
    let header = header ?? #"{"alg":"\#(algorithm.rawValue)","typ":"JWT","kid":"\#(keyID)"}"#
    let text = "\(Self.base64(Data(header.utf8))).\(Self.base64(Data(claims.utf8)))"
    return "\(text).\(Self.base64(try signature(of: Data(text.utf8))))"
  }

  /// Returns a token that is signed with a secret (HS256), as an attacker makes one from the public key.
  package static func symmetricToken(_ claims: String, keyID: String, secret: Data) -> String {
    let text = "\(base64(Data(#"{"alg":"HS256","kid":"\#(keyID)"}"#.utf8))).\(base64(Data(claims.utf8)))"
    let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: secret))
    return "\(text).\(base64(Data(code)))"
  }

  /// The public key as PEM, which such an attacker takes for the secret; empty unless it is an RSA key.
  package var publicPEM: Data {
    guard case .rsa(let key) = key else { return Data() }
    return Data(key.publicKey.pemRepresentation.utf8)
  }

  /// Returns Base64 with the alphabet for URLs, without padding.
  package static func base64(_ bytes: Data) -> String {
    bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  private static func point(_ curve: String, _ bytes: Data) -> String {
    let (x, y) = (bytes.prefix(bytes.count / 2), bytes.suffix(bytes.count / 2))
    return #""kty":"EC","crv":"\#(curve)","x":"\#(base64(x))","y":"\#(base64(y))""#
  }

  private func signature(of text: Data) throws -> Data {
    switch key {
    case .p256(let key): return try key.signature(for: SHA256.hash(data: text)).rawRepresentation
    case .p384(let key): return try key.signature(for: SHA384.hash(data: text)).rawRepresentation
    case .p521(let key): return try key.signature(for: SHA512.hash(data: text)).rawRepresentation
    case .ed25519(let key): return try key.signature(for: text)
    case .rsa(let key):
      switch algorithm {
      case .rs256: return try key.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation
      case .rs384: return try key.signature(for: SHA384.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation
      case .rs512: return try key.signature(for: SHA512.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation
      case .ps256: return try key.signature(for: SHA256.hash(data: text), padding: .PSS).rawRepresentation
      case .ps384: return try key.signature(for: SHA384.hash(data: text), padding: .PSS).rawRepresentation
      case .ps512, .es256, .es384, .es512, .edDSA:
        return try key.signature(for: SHA512.hash(data: text), padding: .PSS).rawRepresentation
      }
    }
  }
}
