import Domain

/// A person who has signed in with a key.
struct ConsoleSession: Sendable {
  /// The SHA-256 of the key, by which the key is found again: a key that is revoked ends its sessions.
  var keyHash: String
  /// The token that every form that changes something has to send.
  var formToken: String
  /// The time of the sign-in.
  var began: Timestamp
  /// The time of the last request.
  var used: Timestamp
}
