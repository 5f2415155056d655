import Domain
import Foundation
public import JSON
public import LineFiles

/// Keys in a JSON file, which only its owner may read and write. It holds no secret, only hashes.
public struct KeyFile: Sendable, Equatable {
  /// The keys, in the order in which they were made.
  public var keys: [AccessKey] = []

  /// The most bytes of a key file.
  /// - Beyond: the file is refused.
  static let bytesMax = 16 << 20

  /// Makes an empty file.
  public init() {}

  /// Reads a file.
  ///
  /// - Parameter path: The path.
  /// - Throws: `KeyFileError` if the file cannot be read, or is no key file.
  public init(path: String) throws(KeyFileError) {
    let bytes: [UInt8]
    do throws(LineFileError) { bytes = try WholeFile.bytes(path, bytesMax: Self.bytesMax) } catch {
      throw KeyFileError("\(error)")
    }
    do throws(KeyFileError) { try self.init(bytes) } catch { throw KeyFileError("\(path): \(error.words)") }
  }

  /// Reads the content of a file.
  ///
  /// - Parameter bytes: The content.
  /// - Throws: `KeyFileError` if it is none of a key file.
  init(_ bytes: [UInt8]) throws(KeyFileError) {
    keys = try JSONReader(bytesMax: Self.bytesMax).read(bytes) { (root: JSONNode) throws(KeyFileError) in
      var keys: [AccessKey] = []
      do throws(JSONError) {
        for node in try root.member("keys", "an array").array() { keys.append(try Self.key(node)) }
      } catch {
        throw KeyFileError(error)
      }
      return keys
    }
    guard Set(keys.map(\.id)).count == keys.count else { throw KeyFileError("$.keys: two keys have the same id") }
  }

  private static func key(_ node: JSONNode) throws(JSONError) -> AccessKey {
    let role = try node.member("role", "a role")
    let hash = try node.member("sha256", "64 hexadecimal digits")
    guard let known = KeyRole(rawValue: role.stringIfAny ?? "") else {
      throw role.wrongValue(KeyRole.allCases.map(\.rawValue).joined(separator: ", "))
    }
    guard let digits = hash.stringIfAny, digits.count == 64, digits.allSatisfy({ $0.isHexDigit && !$0.isUppercase })
    else { throw hash.wrongValue("64 hexadecimal digits in lower case") }
    guard let created = try time(node, "created") else {
      throw try node.member("created", "a time").wrongValue("a time")
    }
    return AccessKey(
      id: try node.member("id", "a text").string(), role: known, hash: digits, sources: try texts(node, "sources"),
      types: try texts(node, "types"), subjects: try texts(node, "subjects"), apps: try texts(node, "apps"),
      created: created, expires: try time(node, "expires"), revoked: try time(node, "revoked"))
  }

  private static func texts(_ node: JSONNode, _ name: StaticString) throws(JSONError) -> [String] {
    guard let list = node.optional(name) else { return [] }
    var texts: [String] = []
    for element in try list.array() { texts.append(try element.string()) }
    return texts
  }

  private static func time(_ node: JSONNode, _ name: StaticString) throws(JSONError) -> Timestamp? {
    guard let member = node.optional(name) else { return nil }
    guard let time = Timestamp(rfc3339: try member.string()) else {
      throw member.wrongValue("a time such as 2026-11-22T12:00:00Z")
    }
    return time
  }

  /// The content of the file.
  var bytes: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.array("keys", keys) { key, json in
        json.object { json in
          json.member("id", key.id)
          json.member("role", key.role.rawValue)
          json.member("sha256", key.hash)
          if !key.sources.isEmpty { json.list("sources", key.sources) }
          if !key.types.isEmpty { json.list("types", key.types) }
          if !key.subjects.isEmpty { json.list("subjects", key.subjects) }
          if !key.apps.isEmpty { json.list("apps", key.apps) }
          json.member("created", "\(key.created)")
          json.member("expires", key.expires.map { "\($0)" })
          json.member("revoked", key.revoked.map { "\($0)" })
        }
      }
    }
    return json.bytes + [UInt8(ascii: "\n")]
  }

  /// Writes the file at once. A new file is for its owner alone (0600).
  ///
  /// - Parameter path: The path.
  /// - Throws: `LineFileError` if the file cannot be written.
  public func write(to path: String) throws(LineFileError) {
    var writer = try LineWriter(path: path, isPrivate: true)
    try writer.append(bytes)
    try writer.close()
  }

  /// Whether more users than needed may read or write a file.
  ///
  /// A file of another owner, such as that of a mounted secret, may be read by its group: this process has no other way to read it.
  ///
  /// - Parameter path: The path. A link, such as that of a mounted secret, is followed.
  /// - Returns: Whether they may; false if there is no such file.
  public static func isOpenToOthers(_ path: String) -> Bool {
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: target),
      let permissions = attributes[.posixPermissions] as? Int
    else { return false }
    let isOwn = attributes[.ownerAccountID] as? UInt32 == geteuid()
    return permissions & (isOwn ? 0o077 : 0o037) != 0
  }
}

/// The reason why a key file cannot be used.
public struct KeyFileError: Error, Sendable, Equatable, CustomStringConvertible, JSONErrorConvertible {
  /// The reason in lower case.
  let words: String

  init(_ words: String) { self.words = words }

  /// Converts an error of reading JSON.
  public init(_ error: JSONError) { words = "\(error)" }

  /// The reason in lower case, with the path.
  public var description: String { words }
}
