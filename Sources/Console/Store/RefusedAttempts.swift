import Auditing
import Domain
import Keys
import Observing

/// The reasons why an attempt was refused before its answer was looked for. The names stand in access records.
enum RefusalCause: String, CaseIterable, Sendable {
  /// A program sent neither a key nor a token.
  case noKey
  /// The key is none of the key file.
  case unknownKey
  /// The key has expired, or was revoked.
  case expiredKey
  /// The token failed a check.
  case refusedToken
  /// The session of the browser has ended, or never was.
  case endedSession
  /// The key does not have the role that the operation needs.
  case missingRole
  /// A form was sent without the token of its session.
  case wrongFormToken
  /// A page of another site made the browser send it.
  case otherSite

  /// Returns the reason why the sender of a request is not known.
  init(_ cause: CredentialFault) {
    switch cause {
    case .noCredential: self = .noKey
    case .unknownKey: self = .unknownKey
    case .expiredKey: self = .expiredKey
    case .refusedToken: self = .refusedToken
    }
  }
}

/// The attempts that the console refused, until they are written to the access records. May be used from any thread.
final class RefusedAttempts: Sendable {
  private let tallies = RefusalTallies()
  private let metrics: ConsoleMetrics

  /// Creates an empty list of refused attempts.
  ///
  /// - Parameter metrics: Counts the attempts.
  init(_ metrics: ConsoleMetrics) { self.metrics = metrics }

  /// Notes an attempt that was refused.
  ///
  /// - Parameters:
  ///   - cause: The reason.
  ///   - key: The id of the key; nil if it is not known.
  ///   - operation: The name of the route.
  ///   - status: The status of the answer.
  ///   - client: The address of the other end; nil if it is gone.
  ///   - now: The wall clock.
  func note(_ cause: RefusalCause, key: String?, operation: String, status: Int, client: String?, at now: Timestamp) {
    metrics.refusals.add(1, [cause.rawValue])
    tallies.note(cause.rawValue, key: key, operation: operation, status: status, client: client, at: now)
  }

  /// Hands over the records that are new or have grown. If they cannot be written, they are handed over again the next time.
  ///
  /// - Parameters:
  ///   - now: The wall clock.
  ///   - write: Writes records, and returns the number of each.
  /// - Throws: what `write` throws.
  func flush<Failure: Error>(at now: Timestamp, _ write: ([RefusedAccess]) throws(Failure) -> [Int64]) throws(Failure) {
    try tallies.flush(at: now, write)
  }
}
