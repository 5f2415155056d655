import NIOCore

/// Counts a connection for the address of its client, and closes one of that address if it has more than its share. Belongs to the event loop of the
/// connection.
final class ClientShare: ChannelInboundHandler {
  typealias InboundIn = Never

  private let connections: OpenConnections

  init(_ connections: OpenConnections) { self.connections = connections }

  func channelActive(context: ChannelHandlerContext) {
    connections.set(context.channel.clientName, of: context.channel)?.close(promise: nil)
    context.fireChannelActive()
  }

  /// Returns the name under which a client is counted.
  ///
  /// - Parameter address: The address of the client, as the system writes it.
  /// - Returns: The address, or of IPv6 the network of 64 bits, because one host has all addresses of it.
  static func name(of address: String) -> String {
    guard address.contains(":") else { return address }
    // A client of IPv4 at a socket of IPv6 is `::ffff:192.0.2.1`.
    if address.contains("."), let colon = address.lastIndex(of: ":") {
      return String(address[address.index(after: colon)...])
    }
    let halves = address.prefix { $0 != "%" }.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
    var groups = halves[0].split(separator: ":")
    if halves.count > 1 {
      let rest = halves[1].split(separator: ":")
      groups += Array(repeating: "0", count: max(0, 8 - groups.count - rest.count)) + rest
    }
    return groups.prefix(4).joined(separator: ":") + "::/64"
  }
}

extension Channel {
  /// The name under which the client of a connection is counted; empty if the connection has ended.
  var clientName: String { remoteAddress?.ipAddress.map(ClientShare.name) ?? "" }
}
