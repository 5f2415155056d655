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
