import Domain
import Keys

/// A person who has signed in with a key or a token.
struct ConsoleSession: Sendable {
  /// The proof, by which the key or the token is looked at again with each request: one that does not work any more ends its sessions.
  var proof: Authenticator.Proof
  /// The token that every form that changes something has to send.
  var formToken: String
  /// The time of the sign-in.
  var began: Timestamp
  /// The time of the last request.
  var used: Timestamp
}
