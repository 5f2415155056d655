public import JSON
import LineFiles

/// The roles that the values of a claim give.
///
/// Without a file, the values `auditor` and `operator` give these roles, and no value gives another one. With a file, only what the file says
/// counts. It is JSON with the words of the key file:
///
///     {"grants":[{"value":"airline-feed","role":"publisher","sources":["/airline/"],"types":[]},{"value":"staff","role":"auditor"}]}
public struct TokenGrants: Sendable, Equatable {
  /// The grants by the value of the claim.
  let byValue: [String: [RoleGrant]]

  /// The most bytes of a file of grants.
  /// - Beyond: the file is refused.
  static let bytesMax = 1 << 20

  /// Grants without a file.
  public static let plain = TokenGrants(
    byValue: [
      KeyRole.auditor.rawValue: [RoleGrant(.auditor)], KeyRole.operator.rawValue: [RoleGrant(.operator)],
    ])

  private init(byValue: [String: [RoleGrant]]) { self.byValue = byValue }

  /// Reads a file.
  ///
  /// - Parameter path: The path.
  /// - Throws: `TokenGrantsError` if the file cannot be read, or is no file of grants.
  public init(path: String) throws(TokenGrantsError) {
    let bytes: [UInt8]
    do throws(LineFileError) { bytes = try WholeFile.bytes(path, bytesMax: Self.bytesMax) } catch {
      throw TokenGrantsError("\(error)")
    }
    do throws(TokenGrantsError) { try self.init(bytes) } catch { throw TokenGrantsError("\(path): \(error)") }
  }

  /// Reads the content of a file.
  ///
  /// - Parameter bytes: The content.
  /// - Throws: `TokenGrantsError` if it is none of a file of grants.
  init(_ bytes: [UInt8]) throws(TokenGrantsError) {
    byValue = try JSONReader(bytesMax: Self.bytesMax).read(bytes) { (root: JSONNode) throws(TokenGrantsError) in
      do throws(JSONError) { return try Self.grants(root) } catch { throw TokenGrantsError(error) }
    }
  }

  /// Returns what a file grants. A publisher needs sources, a registrar and a sender need apps, so that a forgotten line does not allow
  /// everything.
  private static func grants(_ root: JSONNode) throws(JSONError) -> [String: [RoleGrant]] {
    try refuseOthers(root, ["grants"])
    var grants: [String: [RoleGrant]] = [:]
    for node in try root.member("grants", "an array of grants").array() {
      try refuseOthers(node, ["value", "role", "sources", "types", "subjects", "apps"])
      let name = try node.member("role", "a role")
      guard let role = KeyRole(rawValue: name.stringIfAny ?? "") else {
        throw name.wrongValue(KeyRole.allCases.map(\.rawValue).joined(separator: ", "))
      }
      let value = try node.member("value", "a value of the claim with the roles").string()
      let grant = RoleGrant(
        role, sources: try texts(node, "sources", isNeeded: role == .publisher, isAllowed: role == .publisher),
        types: try texts(node, "types", isNeeded: false, isAllowed: role == .publisher),
        subjects: try texts(node, "subjects", isNeeded: false, isAllowed: role == .publisher),
        apps: try texts(node, "apps", isNeeded: role.isBoundToApps, isAllowed: role.isBoundToApps))
      grants[value, default: []].append(grant)
    }
    return grants
  }

  private static func refuseOthers(_ node: JSONNode, _ known: [String]) throws(JSONError) {
    for (key, value) in try node.object() {
      guard let name = key.stringIfAny, !known.contains(name) else { continue }
      throw value.wrongValue("no member of this name; known: \(known.joined(separator: ", "))")
    }
  }

  private static func texts(
    _ node: JSONNode, _ name: StaticString, isNeeded: Bool, isAllowed: Bool
  ) throws(JSONError) -> [String] {
    guard let list = node.optional(name) else {
      if isNeeded { _ = try node.member(name, "a list of what the role may send, with one entry at least") }
      return []
    }
    var texts: [String] = []
    for element in try list.array() { texts.append(try element.string()) }
    if isNeeded, texts.isEmpty { throw list.wrongValue("one entry at least") }
    if !isAllowed, !texts.isEmpty { throw list.wrongValue("no \(name): the role has none") }
    return texts
  }
}

/// The reason why a file of grants cannot be used.
public struct TokenGrantsError: Error, Sendable, Equatable, CustomStringConvertible, JSONErrorConvertible {
  /// The reason in lower case, with the path.
  public let description: String

  init(_ words: String) { description = words }

  /// Converts an error of reading JSON.
  public init(_ error: JSONError) { description = "\(error)" }
}
