public import Domain
import JSON
import LineFiles
public import Logging
import Observing
import Synchronization

/// Checks the tokens of one issuer (JSON Web Tokens with a signature, RFC 7519; OpenID Connect). May be used from any thread.
///
///     length ──► form ──► type, algorithm ──► key ──► signature ──► iss, aud, exp, nbf, sub ──► roles
///
/// A token whose signature was right is remembered by its hash, so that a program that sends it with each request does not cost a signature
/// check each time. It is forgotten when it expires, and does not work any more when its key is no longer one of the issuer's.
public final class TokenVerifier: Sendable {
  private struct State {
    var grants: TokenGrants
    var mark: FileMark?
    var known: [String: VerifiedToken] = [:]
  }

  private let settings: TokenSettings
  private let keys: IssuerKeys
  private let grantsPath: String?
  private let metrics: TokenMetrics
  private let logger: Logger
  private let state: Mutex<State>

  /// The most bytes of a token.
  /// - Beyond: the token is refused.
  public static let tokenBytesMax = 8192
  /// The most levels of nesting in a token.
  /// - Beyond: the token is refused.
  static let nestingMax = 16
  /// The most bytes of a subject (OpenID Connect Core 1.0, 2: 255 characters).
  /// - Beyond: the token is refused.
  static let subjectBytesMax = 255
  /// The most tokens that are remembered.
  /// - Beyond: all are forgotten, and their signatures are checked again.
  static let knownTokensMax = 4096

  /// Makes a verifier.
  ///
  /// - Parameters:
  ///   - settings: The tokens that are accepted.
  ///   - keys: The keys of the issuer.
  ///   - grantsPath: The path of a file of grants; nil for none.
  ///   - metrics: The metrics of tokens.
  ///   - logger: Gets changes of the file of grants.
  /// - Throws: `TokenGrantsError` if the file of grants cannot be used.
  public init(
    _ settings: TokenSettings, keys: IssuerKeys, grantsPath: String? = nil, metrics: TokenMetrics, logger: Logger
  ) throws(TokenGrantsError) {
    self.settings = settings
    self.keys = keys
    self.grantsPath = grantsPath
    self.metrics = metrics
    self.logger = logger
    guard let grantsPath else {
      state = Mutex(State(grants: .plain))
      return
    }
    let mark = FileMark(grantsPath)
    state = Mutex(State(grants: try TokenGrants(path: grantsPath), mark: mark))
  }

  /// The state of the issuer's keys.
  public var keysStatus: IssuerKeys.Status { keys.status }

  /// Reads the issuer's keys and the file of grants again if that is due. Call it about once a second on a thread that may block; one call
  /// at a time.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - wallClock: The time for the status.
  public func refresh(at now: ContinuousClock.Instant, wallClock: Timestamp) {
    keys.refresh(at: now, wallClock: wallClock)
    guard let grantsPath else { return }
    let mark = FileMark(grantsPath)
    guard mark != state.withLock({ $0.mark }) else { return }
    do throws(TokenGrantsError) {
      let grants = try TokenGrants(path: grantsPath)
      state.withLock { $0.grants = grants }
      logger.info("the grants of tokens have changed", metadata: ["file": "\(grantsPath)"])
    } catch {
      logger.warning(
        "the file of grants has changed and cannot be used; the grants from before stay in force",
        metadata: ["error": "\(error)"])
    }
    state.withLock { $0.mark = mark }
  }

  /// Sets the metrics that are read and not counted.
  ///
  /// - Parameter now: The wall clock.
  public func collect(at now: Timestamp) {
    let status = keys.status
    metrics.keys.set(Double(status.keysCount))
    if let readAt = status.readAt { metrics.readAge.set(max(0, Double((now - readAt).microseconds) / 1_000_000)) }
  }

  /// Checks a token.
  ///
  /// - Parameters:
  ///   - token: The token as the client sent it.
  ///   - now: The wall clock.
  /// - Returns: The claims that count. They may give no role.
  /// - Throws: `TokenRefusal` with the check that fails.
  public func verify(_ token: String, at now: Timestamp) throws(TokenRefusal) -> VerifiedToken {
    do throws(TokenRefusal) {
      guard token.utf8.count <= Self.tokenBytesMax else { throw .tooLong }
      let bytes = Array(token.utf8)
      let hash = SHA256.hexDigest(of: bytes)
      if let known = state.withLock({ $0.known[hash] }), keys.set?.contains(known.keyFingerprint) == true {
        guard now < known.expires + settings.clockSkew else { throw .expired(subject: known.subject) }
        metrics.tokens.add(1, ["repeated"])
        return known
      }
      let verified = try check(bytes, now)
      remember(verified, hash, now)
      metrics.tokens.add(1, ["accepted"])
      return verified
    } catch {
      metrics.tokens.add(1, [error.check])
      throw error
    }
  }

  /// Whether a token that was right still works: it has not expired, and its key is still one of the issuer's.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - now: The wall clock.
  public func isInForce(_ token: VerifiedToken, at now: Timestamp) -> Bool {
    now < token.expires + settings.clockSkew && keys.set?.contains(token.keyFingerprint) == true
  }

  /// Returns the roles of a token, as the grants are now.
  ///
  /// - Parameter token: The token.
  public func grants(of token: VerifiedToken) -> [RoleGrant] {
    state.withLock { state in token.values.flatMap { state.grants.byValue[$0] ?? [] } }
  }

  private func remember(_ token: VerifiedToken, _ hash: String, _ now: Timestamp) {
    state.withLock { state in
      if state.known.count >= Self.knownTokensMax {
        state.known = state.known.filter { now < $0.value.expires + settings.clockSkew }
      }
      if state.known.count >= Self.knownTokensMax { state.known = [:] }
      state.known[hash] = token
    }
  }

  // MARK: Checks

  private func check(_ token: [UInt8], _ now: Timestamp) throws(TokenRefusal) -> VerifiedToken {
    let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { throw .malformed }
    let reader = JSONReader(bytesMax: Self.tokenBytesMax, nestingMax: Self.nestingMax)
    let (algorithm, keyID) = try reader.read(header) { (root: JSONNode) throws(TokenRefusal) in try Self.header(root) }
    guard let set = keys.set else { throw .keysMissing }
    let candidates: [IssuerKey]
    switch set.search(id: keyID, algorithm) {
    case .found(let keys): candidates = keys
    case .otherAlgorithm: throw .otherAlgorithm
    case .ambiguous: throw .unnamedKey
    case .unknown:
      keys.want()
      throw .unknownKey
    }
    let text = Array(token[..<parts[1].endIndex])
    guard let key = candidates.first(where: { $0.isValid(signature, of: text, algorithm) }) else { throw .signature }
    return try reader.read(claims) { (root: JSONNode) throws(TokenRefusal) in
      try verified(root, key.fingerprint, now)
    }
  }

  /// Reads the header (RFC 7515, 4.1). Keys and addresses of keys in it are not looked at.
  private static func header(_ root: JSONNode) throws(TokenRefusal) -> (SignatureAlgorithm, keyID: String?) {
    guard root.kind == .object else { throw .malformed }
    guard let algorithm = SignatureAlgorithm(rawValue: root["alg"]?.stringIfAny ?? "") else { throw .algorithm }
    if let type = root["typ"] {
      let name = (type.stringIfAny ?? "").lowercased()
      // RFC 8725, 3.11: a logout token of the same issuer must not pass.
      guard ["jwt", "at+jwt", "application/at+jwt"].contains(name) else { throw .otherSort }
    }
    guard root["crit"] == nil else { throw .otherSort }
    guard let id = root["kid"] else { return (algorithm, nil) }
    guard let text = id.stringIfAny else { throw .malformed }
    return (algorithm, text)
  }

  private func verified(_ root: JSONNode, _ keyFingerprint: String, _ now: Timestamp) throws(TokenRefusal)
    -> VerifiedToken
  {
    guard root.kind == .object else { throw .malformed }
    guard let issuer = root["iss"]?.stringIfAny else { throw .claim("iss is missing, or is no text") }
    guard issuer == settings.issuer else { throw .issuer(expected: settings.issuer) }
    guard let audience = root["aud"] else { throw .claim("aud is missing") }
    let audiences = audience.kind == .array ? audience.elements.map(\.stringIfAny) : [audience.stringIfAny]
    guard audiences.contains(settings.audience) else { throw .audience(expected: settings.audience) }
    guard let subject = root["sub"]?.stringIfAny, !subject.isEmpty else {
      throw .claim("sub is missing, or is no text")
    }
    guard subject.utf8.count <= Self.subjectBytesMax else {
      throw .claim("sub has more than \(Self.subjectBytesMax) bytes")
    }
    guard let expires = Self.time(root["exp"]) else { throw .claim("exp is missing, or is no time") }
    guard now < expires + settings.clockSkew else { throw .expired(subject: subject) }
    if let notBefore = root["nbf"] {
      guard let begins = Self.time(notBefore) else { throw .claim("nbf is no time") }
      guard now + settings.clockSkew >= begins else { throw .notYetValid }
    }
    return VerifiedToken(
      subject: subject, values: Self.values(root, settings.rolesClaim), expires: expires,
      keyFingerprint: keyFingerprint)
  }

  /// Returns a time in seconds since 1970 (RFC 7519, 2: NumericDate); nil if it is none.
  private static func time(_ node: JSONNode?) -> Timestamp? {
    guard let seconds = node?.numberIfAny, seconds >= 0 else { return nil }
    // Beyond the year 9999 it is for ever.
    return Timestamp(microseconds: Int64(min(seconds, 253_402_300_799) * 1_000_000))
  }

  /// Returns the values of a claim: the texts of a list, or the words of a text.
  ///
  /// A claim of exactly the name comes first, because names of claims may be addresses with dots. Otherwise the dots lead into nested claims.
  private static func values(_ root: JSONNode, _ claim: String) -> [String] {
    var node = root[claim]
    if node == nil {
      node = claim.split(separator: ".").reduce(Optional(root)) { node, name in node?[String(name)] }
    }
    guard let node else { return [] }
    if let text = node.stringIfAny { return text.split(separator: " ").map(String.init) }
    return node.elements.compactMap(\.stringIfAny)
  }
}

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
