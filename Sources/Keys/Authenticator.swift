public import Domain
import Foundation
import Serving
import Synchronization

/// Tells who sends a request, by the keys and the tokens that a server accepts. May be used from any thread.
public final class Authenticator: Sendable {
  /// The proof of a sign-in, by which its principal is found again. It holds no secret.
  public enum Proof: Sendable {
    /// The SHA-256 of the key.
    case key(hash: String)
    /// The claims of the token.
    case token(VerifiedToken)
  }

  private let keys: KeyRing?
  private let tokens: TokenVerifier?
  private let rates: PrincipalRates?

  /// Makes an authenticator.
  ///
  /// - Parameters:
  ///   - keys: The keys; nil if the server takes none.
  ///   - tokens: The tokens; nil if the server takes none.
  ///   - recordsPerSecond: The records that each subject of tokens may send a second; nil for any number. Keys have their own rate.
  public init(keys: KeyRing?, tokens: TokenVerifier? = nil, recordsPerSecond: Int? = nil) {
    precondition(keys != nil || tokens != nil, "a server that asks for nothing has no authenticator")
    self.keys = keys
    self.tokens = tokens
    rates = recordsPerSecond.map { PrincipalRates(perSecond: $0) }
  }

  /// The words for the credentials that the server takes, such as `a key or a token`.
  public var expectation: String {
    switch (keys != nil, tokens != nil) {
    case (true, true): "a key or a token"
    case (false, true): "a token"
    case (_, false): "a key"
    }
  }

  /// Whether the server takes keys.
  public var takesKeys: Bool { keys != nil }

  /// Whether the server takes tokens.
  public var takesTokens: Bool { tokens != nil }

  /// Reads the key file again if it has changed. It reads the disk, so it must not be called on an event loop.
  public func refresh() { keys?.refresh() }

  /// Returns the sender of a request.
  ///
  /// - Parameters:
  ///   - authorization: The header `Authorization`; nil if there is none.
  ///   - now: The wall clock.
  /// - Throws: `CredentialRefusal` if there is no key and no token, or one that does not work.
  public func principal(authorization: String?, now: Timestamp) throws(CredentialRefusal) -> Principal {
    let words = (authorization ?? "").split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "bearer" else {
      let problem = Problem(
        .unauthorized, "expected the header Authorization: Bearer, followed by \(expectation)")
      throw CredentialRefusal(authorization == nil ? .noCredential : .unknownKey, problem)
    }
    return try signIn(words[1].trimmingCharacters(in: .whitespaces), now: now).principal
  }

  /// Returns the sender of a key or a token, and the proof by which they are found again.
  ///
  /// - Parameters:
  ///   - credential: The text of the key or the token.
  ///   - now: The wall clock.
  /// - Throws: `CredentialRefusal` if it does not work.
  public func signIn(_ credential: String, now: Timestamp) throws(CredentialRefusal) -> (
    principal: Principal, proof: Proof
  ) {
    // The secret of a key has no dot, a token has two.
    guard credential.utf8.contains(UInt8(ascii: ".")) else {
      let holder = try holder(of: credential, now: now)
      return (Self.principal(holder), .key(hash: holder.key.hash))
    }
    guard let tokens else {
      throw CredentialRefusal(.unknownKey, Problem(.unauthorized, "this server takes keys, and no tokens"))
    }
    do throws(TokenRefusal) {
      let token = try tokens.verify(credential, at: now)
      return (principal(token, tokens), .token(token))
    } catch {
      throw CredentialRefusal(error)
    }
  }

  /// Returns the principal of a sign-in, as the keys and the grants are now.
  ///
  /// - Parameters:
  ///   - proof: The proof of the sign-in.
  ///   - now: The wall clock.
  /// - Returns: The principal; nil if the key or the token does not work any more.
  public func principal(_ proof: Proof, now: Timestamp) -> Principal? {
    switch proof {
    case .key(let hash):
      guard let holder = keys?.holder(keyHash: hash), holder.key.isValid(at: now) else { return nil }
      return Self.principal(holder)
    case .token(let token):
      guard let tokens, tokens.isInForce(token, at: now) else { return nil }
      return principal(token, tokens)
    }
  }

  private func holder(of secret: String, now: Timestamp) throws(CredentialRefusal) -> KeyRing.Holder {
    guard let keys else {
      throw CredentialRefusal(
        .unknownKey, Problem(.unauthorized, "this server takes tokens of its issuer, and no keys"))
    }
    guard let holder = keys.holder(of: secret) else {
      throw CredentialRefusal(.unknownKey, Problem(.unauthorized, "the key is not known here"))
    }
    guard holder.key.isValid(at: now) else {
      let problem = Problem(.unauthorized, "the key \(holder.key.id) has expired or was revoked")
      throw CredentialRefusal(.expiredKey, problem, name: holder.key.id)
    }
    return holder
  }

  private static func principal(_ holder: KeyRing.Holder) -> Principal {
    Principal(name: holder.key.id, credential: .key, grants: [holder.key.grant], bucket: holder.bucket)
  }

  private func principal(_ token: VerifiedToken, _ tokens: TokenVerifier) -> Principal {
    Principal(
      name: token.subject, credential: .token, grants: tokens.grants(of: token),
      bucket: rates?.bucket(of: token.subject))
  }
}

/// The rate limits of the subjects of tokens. May be used from any thread.
final class PrincipalRates: Sendable {
  /// The most subjects at a time whose rate is kept. A rate that is not used for two seconds is forgotten without a loss.
  /// - Beyond: further subjects share one rate.
  static let subjectsMax = 4096

  private let perSecond: Int
  private let shared: TokenBucket
  private let buckets = Mutex<[String: TokenBucket]>([:])

  /// Makes rates that nobody has used.
  ///
  /// - Parameter perSecond: The records that each subject may send a second.
  init(perSecond: Int) {
    self.perSecond = perSecond
    shared = TokenBucket(perSecond: perSecond)
  }

  /// Returns the rate of a subject.
  ///
  /// - Parameters:
  ///   - subject: The subject.
  ///   - now: The time.
  func bucket(of subject: String, at now: ContinuousClock.Instant = .now) -> TokenBucket {
    buckets.withLock { buckets in
      if let bucket = buckets[subject] { return bucket }
      if buckets.count >= Self.subjectsMax { buckets = buckets.filter { !$0.value.isFull(at: now) } }
      guard buckets.count < Self.subjectsMax else { return shared }
      let bucket = TokenBucket(perSecond: perSecond, now: now)
      buckets[subject] = bucket
      return bucket
    }
  }
}
