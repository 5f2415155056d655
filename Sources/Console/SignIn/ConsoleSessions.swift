import Domain
import Keys
import Serving
import Synchronization

/// The people who have signed in. Sessions are kept in memory alone, so they end with the process. May be used from any thread.
///
///     none ──sign in──► open ──idle too long, too old, key or token without effect, signed out, too many others──► none
///
/// The browser has 32 random bytes in a cookie. Only their SHA-256 is kept here.
final class ConsoleSessions: Sendable {
  /// The name of the cookie.
  static let cookieName = "rouse-session"
  /// The name of the field that holds the token against forged requests.
  static let tokenField = "token"
  /// The longest time without a request.
  /// - Beyond: the session ends.
  static let idleMax = TimeSpan.hours(1)
  /// The longest time of a session.
  /// - Beyond: the session ends.
  static let ageMax = TimeSpan.hours(12)
  /// The most sessions at a time.
  /// - Beyond: the one that was used least recently ends.
  static let sessionsMax = 1000
  /// The most characters of a cookie that are looked at.
  private static let cookieMax = 128
  /// The random bytes of a cookie and of a token.
  private static let secretBytes = 32

  /// The token of the forms of a console without keys. Another site cannot read it.
  let openToken = AccessKey.randomDigits(ConsoleSessions.secretBytes)
  /// The keys and tokens; nil if the console asks for none.
  let access: Authenticator?
  private let sessions = Mutex<[String: ConsoleSession]>([:])

  /// Makes an empty set of sessions.
  ///
  /// - Parameter access: The keys and tokens; nil if the console asks for none.
  init(_ access: Authenticator?) { self.access = access }

  /// Whether people have to sign in.
  var areNeeded: Bool { access != nil }

  /// Opens a session.
  ///
  /// - Parameters:
  ///   - secret: The key or the token that somebody has typed.
  ///   - now: The wall clock.
  /// - Returns: The text of the cookie.
  /// - Throws: ``SignInRefusal`` if it is none, or if it does not let anybody look at pages.
  func open(secret: String, now: Timestamp) throws(SignInRefusal) -> String {
    guard let access else {
      throw SignInRefusal(
        cause: nil, problem: Problem(.notFound, "this console has no keys, so there is nothing to sign in to"))
    }
    let (principal, proof): (Principal, Authenticator.Proof)
    do throws(CredentialRefusal) { (principal, proof) = try access.signIn(secret, now: now) } catch {
      throw SignInRefusal(cause: RefusalCause(error.cause), problem: error.problem, key: error.name)
    }
    guard Viewer(key: principal.name, roles: principal.roles).may(.auditor) else {
      throw SignInRefusal(cause: .missingRole, problem: principal.refusal(needing: .auditor), key: principal.name)
    }
    let cookie = AccessKey.randomDigits(Self.secretBytes)
    let session = ConsoleSession(
      proof: proof, formToken: AccessKey.randomDigits(Self.secretBytes), began: now, used: now)
    sessions.withLock { sessions in
      sessions = sessions.filter { Self.isAlive($0.value, now) }
      if sessions.count >= Self.sessionsMax,
        let oldest = sessions.min(by: { ($0.value.used, $0.key) < ($1.value.used, $1.key) })
      {
        sessions[oldest.key] = nil
      }
      sessions[Self.hash(cookie)] = session
    }
    return cookie
  }

  /// Ends the session of a request.
  ///
  /// - Parameter cookies: The header `Cookie`; nil if there is none.
  func close(cookies: String?) {
    guard let cookie = Self.cookie(cookies) else { return }
    sessions.withLock { $0[Self.hash(cookie)] = nil }
  }

  /// Returns the principal and the form token of the session of a request; nil if there is none, or if it has ended.
  ///
  /// - Parameters:
  ///   - cookies: The header `Cookie`; nil if there is none.
  ///   - now: The wall clock.
  func find(cookies: String?, now: Timestamp) -> (principal: Principal, formToken: String)? {
    guard let access, let cookie = Self.cookie(cookies) else { return nil }
    let hash = Self.hash(cookie)
    return sessions.withLock { sessions in
      guard let session = sessions[hash] else { return nil }
      guard Self.isAlive(session, now), let principal = access.principal(session.proof, now: now) else {
        sessions[hash] = nil
        return nil
      }
      sessions[hash]?.used = max(session.used, now)
      return (principal, session.formToken)
    }
  }

  /// Returns the header that gives a browser its cookie.
  ///
  /// `SameSite=Lax`, and not `Strict`, so that a link in a chat or a mail leads a person who has signed in to the page, and not to the sign-in. A
  /// browser then sends the cookie with a link of another site, and with nothing else of it: no form, picture, frame or script. That changes
  /// nothing, because no `GET` does, and every other request needs the origin and the token of the session.
  ///
  /// - Parameters:
  ///   - cookie: The text; nil takes the cookie away.
  ///   - isSecure: Whether the browser may send it over TLS only.
  static func setCookie(_ cookie: String?, isSecure: Bool) -> (name: String, value: String) {
    let life = cookie == nil ? 0 : ageMax.microseconds / 1_000_000
    return (
      "set-cookie",
      "\(cookieName)=\(cookie ?? ""); Path=/; Max-Age=\(life); HttpOnly; SameSite=Lax\(isSecure ? "; Secure" : "")"
    )
  }

  private static func isAlive(_ session: ConsoleSession, _ now: Timestamp) -> Bool {
    now < session.used + idleMax && now < session.began + ageMax
  }

  /// Whether a request has the cookie of a session, which may have ended.
  ///
  /// - Parameter cookies: The header `Cookie`; nil if there is none.
  static func isSent(cookies: String?) -> Bool { cookie(cookies) != nil }

  /// Returns the cookie of a header.
  private static func cookie(_ header: String?) -> String? {
    for part in (header ?? "").split(separator: ";") {
      let words = part.split(separator: "=", maxSplits: 1)
      guard words.count == 2, words[0].drop(while: { $0 == " " }) == cookieName else { continue }
      return words[1].utf8.count <= cookieMax ? String(words[1]) : nil
    }
    return nil
  }

  private static func hash(_ text: String) -> String { SHA256.hexDigest(of: Array(text.utf8)) }
}

/// The refusal of a sign-in.
struct SignInRefusal: Error {
  /// The reason, for the access records; nil if nobody has to sign in.
  var cause: RefusalCause?
  /// The answer.
  var problem: Problem
  /// The id of the key, or the subject of the token; nil if it is not known for certain.
  var key: String?
}

/// A person who has signed in with a key or a token.
private struct ConsoleSession: Sendable {
  /// The proof, by which the key or the token is looked at again with each request: one that does not work any more ends its sessions.
  var proof: Authenticator.Proof
  /// The token that every form that changes something has to send.
  var formToken: String
  /// The time of the sign-in.
  var began: Timestamp
  /// The time of the last request.
  var used: Timestamp
}
