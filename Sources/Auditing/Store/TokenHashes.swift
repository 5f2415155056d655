import Foundation

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
