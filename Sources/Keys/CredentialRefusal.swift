public import Serving

/// The refusal of a request whose sender is not known.
public struct CredentialRefusal: Error, Sendable, Equatable {
  /// The reason.
  public let cause: CredentialFault
  /// The answer.
  public let problem: Problem
  /// The id of the key, or the subject of the token; nil if it is not known for certain.
  public let name: String?

  init(_ cause: CredentialFault, _ problem: Problem, name: String? = nil) {
    self.cause = cause
    self.name = name
    var problem = problem
    // RFC 6750, 3: a request without credentials gets no error code.
    problem.isCredentialRefused = problem.kind == .unauthorized && cause != .noCredential
    self.problem = problem
  }

  init(_ refusal: TokenRefusal) {
    let problem: Problem
    if case .keysMissing = refusal {
      problem = Problem(.unavailable, "\(refusal)", retryAfterSeconds: IssuerKeys.retrySeconds)
    } else {
      problem = Problem(.unauthorized, "\(refusal)")
    }
    var name: String?
    if case .expired(let subject) = refusal { name = subject }
    self.init(.refusedToken, problem, name: name)
  }
}

/// The reasons why the sender of a request is not known.
public enum CredentialFault: String, Sendable, CaseIterable {
  /// There is neither a key nor a token.
  case noCredential
  /// The key is none of the key file.
  case unknownKey
  /// The key has expired, or was revoked.
  case expiredKey
  /// The token fails a check.
  case refusedToken
}
