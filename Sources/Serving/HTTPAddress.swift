/// An address to listen on, as `host:port`.
public struct HTTPAddress: Sendable, Equatable {
  /// The name or the address of the host, without brackets.
  public var host: String
  /// The port; 0 for any free one.
  public var port: Int

  /// Makes an address.
  ///
  /// - Parameters:
  ///   - host: The name or the address of the host, without brackets.
  ///   - port: The port; 0 for any free one.
  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Reads an address such as `127.0.0.1:9464`, `localhost:0` or `[::1]:9464`.
  ///
  /// - Parameter text: The text.
  /// - Returns: The address; nil if the text is none.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (0...65_535).contains(port)
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || ".:-_%".contains($0)) }) else {
      return nil
    }
    self.init(host: String(host), port: port)
  }

  /// Whether only this host reaches the address.
  public var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

  /// The address as text; an IPv6 address in brackets.
  public var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
