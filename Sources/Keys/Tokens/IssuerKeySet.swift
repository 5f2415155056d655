import Domain
public import JSON

/// The public keys of an issuer: a JSON Web Key Set (RFC 7517).
///
/// A key that is no use here is left out, and counted: another type, another curve, a use other than `sig`, numbers that are no key. So a new
/// sort of key at the issuer does no harm. Secrets in the set are not read.
struct IssuerKeySet: Sendable {
  /// The keys that can check a signature, in the order of the set.
  let keys: [IssuerKey]
  /// The number of the other keys.
  let unusedCount: Int

  /// The most bytes of a set.
  /// - Beyond: the set is refused; the one from before stays in force.
  static let bytesMax = 1 << 20
  /// The most keys of a set. Issuers have two or three.
  /// - Beyond: the set is refused; the one from before stays in force.
  static let keysMax = 100

  /// The result of a search for the key of a token.
  enum Search: Sendable {
    /// These keys may have signed it. There is one, unless the issuer gives one id to several keys.
    case found([IssuerKey])
    /// There is no key with the id.
    case unknown
    /// The key with the id may not be used with the algorithm.
    case otherAlgorithm
    /// The token names no key, and there is more than one that it could be.
    case ambiguous
  }

  /// Reads a set.
  ///
  /// - Parameter bytes: The JSON.
  /// - Throws: `IssuerKeysError` if it is no set.
  init(_ bytes: [UInt8]) throws(IssuerKeysError) {
    guard bytes.count <= Self.bytesMax else {
      throw IssuerKeysError("the key set has more than \(Self.bytesMax) bytes")
    }
    let keys = try JSONReader(bytesMax: Self.bytesMax).read(bytes) { (root: JSONNode) throws(IssuerKeysError) in
      let list: JSONNode.Elements
      do throws(JSONError) { list = try root.member("keys", "an array of JSON Web Keys").array() } catch {
        throw IssuerKeysError(error)
      }
      guard list.count <= Self.keysMax else {
        throw IssuerKeysError("the key set has \(list.count) keys, expected at most \(Self.keysMax)")
      }
      return list.map(Self.key)
    }
    self.keys = keys.compactMap(\.self)
    unusedCount = keys.count { $0 == nil }
  }

  /// Finds the keys that may have signed a token.
  ///
  /// - Parameters:
  ///   - id: The id in the token's header; nil if it names none.
  ///   - algorithm: The algorithm in the token's header.
  func search(id: String?, _ algorithm: SignatureAlgorithm) -> Search {
    guard let id else {
      let fitting = keys.filter { $0.algorithms.contains(algorithm) }
      return fitting.count > 1 ? .ambiguous : fitting.isEmpty ? .unknown : .found(fitting)
    }
    let named = keys.filter { $0.id == id }
    let fitting = named.filter { $0.algorithms.contains(algorithm) }
    return named.isEmpty ? .unknown : fitting.isEmpty ? .otherAlgorithm : .found(fitting)
  }

  /// Whether the set has a key.
  ///
  /// - Parameter fingerprint: The hash of the key.
  func contains(_ fingerprint: String) -> Bool { keys.contains { $0.fingerprint == fingerprint } }

  /// Returns a key; nil if it is no use here.
  private static func key(_ node: JSONNode) -> IssuerKey? {
    func text(_ name: StaticString) -> String? { node.optional(name)?.stringIfAny }
    func bytes(_ name: StaticString) -> [UInt8]? { text(name).flatMap { Base64URL.decode($0.utf8) } }
    if let use = node.optional("use"), !use.equals("sig") { return nil }
    if let uses = node.optional("key_ops"), !uses.elements.contains(where: { $0.equals("verify") }) { return nil }
    var algorithm: SignatureAlgorithm?
    if let name = node.optional("alg") {
      guard let known = SignatureAlgorithm(rawValue: name.stringIfAny ?? "") else { return nil }
      algorithm = known
    }
    let material: IssuerKey.Material?
    switch text("kty") {
    case "RSA":
      guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
      material = IssuerKey.rsa(modulus: modulus, exponent: exponent)
    case "EC":
      guard let curve = text("crv"), curve != "Ed25519", let x = bytes("x"), let y = bytes("y") else { return nil }
      material = IssuerKey.point(curve: curve, x: x, y: y)
    case "OKP":
      guard let curve = text("crv"), curve == "Ed25519", let x = bytes("x") else { return nil }
      material = IssuerKey.point(curve: curve, x: x, y: nil)
    case _: return nil
    }
    guard let material else { return nil }
    let parts = ["kty", "kid", "alg", "crv", "n", "e", "x", "y"].map { node[$0]?.stringIfAny ?? "" }
    let fingerprint = SHA256.hexDigest(of: Array(parts.joined(separator: "\n").utf8))
    return IssuerKey(id: text("kid"), material, algorithm: algorithm, fingerprint: fingerprint)
  }
}

/// The reason why the keys of an issuer cannot be used.
public struct IssuerKeysError: Error, Sendable, Equatable, CustomStringConvertible, JSONErrorConvertible {
  /// The reason in lower case.
  public let description: String

  /// Makes an error.
  ///
  /// - Parameter words: The reason in lower case.
  public init(_ words: String) { description = words }

  /// Converts an error of reading JSON.
  public init(_ error: JSONError) { description = "the key set is no JSON Web Key Set: \(error)" }
}
