import NIOHTTP1

/// The head of a request.
public struct HTTPHead: Sendable {
  /// The method, such as `POST`.
  public let method: String
  /// The path without the query, as it was sent: escapes such as `%2F` are not decoded.
  public let path: String
  /// The query, escaped as it was sent, without its question mark; nil if there is none.
  public let query: String?
  /// The address of the other end of the connection, without its port: the client, or a proxy before the server; nil if the connection has
  /// ended.
  public let remote: String?
  private let headers: HTTPHeaders

  /// Reads a head.
  init(_ head: HTTPRequestHead, remote: String?) {
    self.remote = remote
    method = head.method.rawValue
    let target = Self.origin(of: head.uri)
    path = String(target.prefix { $0 != "?" && $0 != "#" })
    query = target.firstIndex(of: "?").map { String(target[$0...].dropFirst().prefix { $0 != "#" }) }
    headers = head.headers
  }

  /// Removes scheme and host of a target such as `http://host/path`, which proxies may send (RFC 9112, 3.2.2).
  private static func origin(of target: String) -> Substring {
    guard !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") else { return target[...] }
    let path = target[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
    return path.hasPrefix("/") ? path : "/" + path
  }

  /// Returns the value of the first header with a name.
  ///
  /// - Parameter name: The name, in any letter case.
  /// - Returns: The value; nil if there is no such header.
  public func header(_ name: String) -> String? { headers.first(name: name) }

  /// Returns the values of all headers with a name, as one list.
  ///
  /// - Parameter name: The name, in any letter case.
  /// - Returns: The values with commas between them (RFC 9110, 5.3); nil if there is no such header.
  public func list(_ name: String) -> String? {
    let values = headers[name]
    return values.isEmpty ? nil : values.joined(separator: ",")
  }

  /// All headers, in the order of the request.
  public var fields: [(name: String, value: String)] { headers.map { ($0.name, $0.value) } }
}

extension HTTPHead {
  /// The hosts by which this machine reaches itself.
  private static let ownHosts: Set<String> = ["localhost", "127.0.0.1", "[::1]", "::1"]

  /// Refuses a request that names another host than this machine, for a server that asks for no key. A site may give its own name the
  /// address of this machine, and its pages would then count as the server's own.
  ///
  /// - Throws: `Problem` that says by which names the server is reached.
  public func requireOwnHost() throws(Problem) {
    let host = header("host")?.lowercased() ?? ""
    guard !host.isEmpty, !Self.ownHosts.contains(Self.name(of: host)) else { return }
    throw Problem(
      .forbidden, "this server has no keys, so it answers only to localhost and 127.0.0.1, not to the name \(host)")
  }

  private static func name(of host: String) -> String {
    guard let colon = host.lastIndex(of: ":"), host[host.index(after: colon)...].allSatisfy(\.isNumber) else {
      return host
    }
    return String(host[..<colon])
  }
}
