import Domain
import Foundation

/// The key with which a store hashes push tokens. A token in clear lets anybody with the app's APNs key push to the device, so a
/// store keeps a hash instead: equal for equal tokens, and useless without the token.
///
/// The key is a file beside the store, made with the first command. A store that lost its key gets another one, under which
/// the same token has another hash.
struct TokenKey: Equatable {
  private let bytes: [UInt8]
  private let key: SHA256.AuthenticationKey

  /// The number of bytes of a key.
  private static let byteCount = 32
  /// The hexadecimal digits of a hash. 128 bits are enough to tell tokens apart.
  private static let digitCount = 32

  private init(bytes: [UInt8]) {
    self.bytes = bytes
    key = SHA256.AuthenticationKey(bytes)
  }

  /// Returns the path of the key of a store.
  static func path(of store: String) -> String { store + ".key" }

  /// Returns a new key, of random bytes that nobody can predict.
  static func random() -> TokenKey {
    var random = SystemRandomNumberGenerator()
    return TokenKey(bytes: (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) })
  }

  /// Returns the key of a store, which is made if there is none.
  /// - Parameter store: The path of the store. A store in memory has a key in memory.
  /// - Throws: `AuditError` when the file cannot be made or read, or holds no key.
  static func ofStore(_ store: String) throws(AuditError) -> TokenKey {
    if store == ":memory:" { return random() }
    let path = path(of: store)
    if !FileManager.default.fileExists(atPath: path) { PrivateFile.create(path, random().bytes) }
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw AuditError(
        kind: .cannotOpen, path: store, reason: "its key \(path) cannot be made or read",
        advice: "give this user write access to the folder and read access to the file")
    }
    guard bytes.count == byteCount else {
      throw AuditError(
        kind: .corrupt, path: store, reason: "its key \(path) has \(bytes.count) bytes instead of \(byteCount)",
        advice: "put the key back, or remove it; with a new key the same push token gets another hash")
    }
    return TokenKey(bytes: Array(bytes))
  }

  /// Returns the hash of a push token: `hash:` and 32 hexadecimal digits.
  func hash(of token: String) -> String {
    "hash:\(key.hexAuthenticationCode(of: Array(token.utf8)).prefix(Self.digitCount))"
  }

  /// Returns a command with the hash of its push token instead of the token. The id of a broadcast channel is no secret.
  func concealing(_ command: Command) -> Command {
    guard case .token(let token) = command.apns.address else { return command }
    var concealed = command
    concealed.apns.address = .token(hash(of: token))
    return concealed
  }
}

/// Hashes push tokens as an audit store does, for a program that only reads it.
public struct TokenHashes: Sendable {
  private let key: TokenKey

  /// Reads the key of a store.
  ///
  /// - Parameter store: The path of the store. Without a key that can be read, hashes are equal only to those of the same value.
  public init(store: String) {
    // Only the audit makes the key of a store. A key that cannot be used is its trouble, and no reason to show a token.
    let isThere = FileManager.default.fileExists(atPath: TokenKey.path(of: store))
    key = isThere ? (try? TokenKey.ofStore(store)) ?? .random() : .random()
  }

  /// Returns the hash of a push token, as commands have it.
  ///
  /// - Parameter token: The token.
  public func hash(of token: String) -> String { key.hash(of: token) }
}
