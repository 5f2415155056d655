public import Domain

/// A key of the gateway or of the console, as the key file has it. The secret itself is nowhere: only its SHA-256 is kept.
public struct AccessKey: Sendable, Equatable {
  /// The id, which logs may show.
  public var id: String
  public var role: KeyRole
  /// The SHA-256 of the secret, as 64 hexadecimal digits.
  public var hash: String
  /// The prefixes of the sources whose events a publisher may send; any source if there are none.
  public var sources: [String]
  /// The types of the events that a publisher may send; any type if there are none.
  public var types: [String]
  /// The prefixes of the subjects of the events that a publisher may send; any subject if there are none.
  public var subjects: [String]
  /// The apps whose devices a registrar may register, or a sender may report of; any app if there are none.
  public var apps: [String]
  /// The time at which the key was made.
  public var created: Timestamp
  /// The time from which on the key does not work any longer; nil for never.
  public var expires: Timestamp?
  /// The time at which the key was revoked; nil if it was not.
  public var revoked: Timestamp?

  /// The prefix of secrets, by which scanners find those that were committed by mistake.
  public static let secretPrefix = "rouse_"
  /// The random bytes of a secret.
  private static let secretBytes = 32
  /// The random bytes of an id.
  private static let idBytes = 6

  /// Makes a key with a new secret.
  ///
  /// - Parameters:
  ///   - role: The role.
  ///   - sources: The prefixes of sources.
  ///   - types: The types of events.
  ///   - subjects: The prefixes of subjects.
  ///   - apps: The apps.
  ///   - created: The time.
  ///   - expires: The time from which on the key does not work; nil for never.
  /// - Returns: The key, and its secret, which cannot be had again.
  public static func make(
    _ role: KeyRole, sources: [String] = [], types: [String] = [], subjects: [String] = [], apps: [String] = [],
    created: Timestamp, expires: Timestamp? = nil
  ) -> (key: AccessKey, secret: String) {
    let secret = secretPrefix + randomDigits(secretBytes)
    let key = AccessKey(
      id: randomDigits(idBytes), role: role, hash: hash(of: secret), sources: sources, types: types,
      subjects: subjects, apps: apps, created: created, expires: expires)
    return (key, secret)
  }

  /// Returns the hash by which a secret is found.
  static func hash(of secret: String) -> String { SHA256.hexDigest(of: Array(secret.utf8)) }

  /// Returns hexadecimal digits of random bytes, as for a secret. The system's generator is made for secrets.
  ///
  /// - Parameter count: The number of bytes, from 0.
  public static func randomDigits(_ count: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    let digits = Array("0123456789abcdef")
    return String((0..<2 * count).map { _ in digits[Int.random(in: 0..<16, using: &generator)] })
  }

  /// Whether the key works at a time.
  ///
  /// - Parameter now: The wall clock.
  public func isValid(at now: Timestamp) -> Bool { revoked == nil && expires.map { now < $0 } ?? true }
}
