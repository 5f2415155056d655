import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import NIOTLS

/// Puts the handlers of a server on its connections. May be used from any thread.
///
///     TLS ──ALPN http/1.1, or none──► HTTP/1.1 ──► HTTPConnection
///      └────ALPN h2──► HTTP/2 ──each request──► HTTP2Stream ──► HTTPConnection
final class HTTPChannels: Sendable {
  private let service: any HTTPService
  private let limits: HTTPServerLimits
  private let connections: OpenConnections
  private let bodies: HTTPBudget
  private let requests: HTTPBudget
  private let clock = HTTPDateClock()

  /// The bytes of a body that a client of HTTP/2 may send before it waits for the server: of a request, and of a connection. HTTP/2
  /// begins with 64 KiB, which makes a large batch on a long way slow. The bytes are read at once and count as those of bodies.
  private static let windowBytes = (request: 256 << 10, connection: 1 << 20)

  /// Makes the handlers of a server.
  ///
  /// - Parameters:
  ///   - service: The program that answers.
  ///   - limits: The bounds.
  ///   - connections: The open connections of the server.
  init(_ service: any HTTPService, _ limits: HTTPServerLimits, _ connections: OpenConnections) {
    self.service = service
    self.limits = limits
    self.connections = connections
    bodies = HTTPBudget(
      limits.bodiesBytesMax, shareMax: max(limits.bodyBytesMax, HTTPServerLimits.share(of: limits.bodiesBytesMax)))
    requests = HTTPBudget(limits.requestsMax, shareMax: HTTPServerLimits.share(of: limits.requestsMax))
  }

  /// Puts the first handlers on a connection, and those of its protocol.
  ///
  /// - Parameters:
  ///   - channel: The connection.
  ///   - context: The certificate, and the versions of TLS; nil for no TLS.
  func configure(_ channel: any Channel, _ context: NIOSSLContext?) throws {
    try channel.pipeline.syncOperations.addHandler(ClientShare(connections))
    if let context { try configureTLS(channel, context) } else { try configureHTTP1(channel) }
  }

  /// Puts HTTP/1.1 on a connection.
  private func configureHTTP1(_ channel: any Channel) throws {
    var decoding = NIOHTTPDecoderLimitConfiguration()
    decoding.maxHeaderFieldSize = limits.headerBytesMax
    decoding.maxHeaderListSize = limits.headerBytesMax
    decoding.maxHeaderFieldCount = limits.headersMax
    let pipeline = channel.pipeline.syncOperations
    let connection = HTTPConnection(service, limits, bodies, clock, .server(connections))
    try pipeline.addHandler(HeadStart(connection, eventLoop: channel.eventLoop))
    try pipeline.addHandler(HTTPResponseEncoder())
    try pipeline.addHandler(
      ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: decoding)))
    try pipeline.addHandler(HTTPServerPipelineHandler())
    try pipeline.addHandler(connection)
  }

  /// Puts TLS on a connection, and then the protocol that the client chooses.
  ///
  /// - Parameters:
  ///   - channel: The connection.
  ///   - context: The certificate, and the versions of TLS.
  private func configureTLS(_ channel: any Channel, _ context: NIOSSLContext) throws {
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(NIOSSLServerHandler(context: context))
    try pipeline.addHandler(TLSHandshake(.seconds(Int64(limits.headSeconds))))
    try pipeline.addHandler(
      ApplicationProtocolNegotiationHandler { [self] result, channel in
        channel.eventLoop.makeCompletedFuture {
          if case .negotiated("h2") = result { try configureHTTP2(channel) } else { try configureHTTP1(channel) }
        }
      })
  }

  private func configureHTTP2(_ channel: any Channel) throws {
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streamsMax),
      // Up to twice the bound a request is refused with 431, beyond it the connection ends. Until the client has acknowledged this
      // setting, it ends beyond 16 KiB.
      HTTP2Setting(parameter: .maxHeaderListSize, value: 2 * limits.headerBytesMax),
      HTTP2Setting(parameter: .initialWindowSize, value: Self.windowBytes.request),
    ]
    configuration.targetWindowSize = Self.windowBytes.connection
    var stream = NIOHTTP2Handler.StreamConfiguration()
    stream.targetWindowSize = Self.windowBytes.request
    let connection = HTTP2Connection(limits, connections)
    let owner = NIOLoopBound(connection, eventLoop: channel.eventLoop)
    let pipeline = channel.pipeline.syncOperations
    _ = try pipeline.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: configuration, streamConfiguration: stream,
      streamDelegate: HTTP2Connection.Streams(connection, eventLoop: channel.eventLoop)
    ) { [self] channel in
      channel.eventLoop.makeCompletedFuture {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(HTTP2Stream(limits, requests))
        try pipeline.addHandler(HTTPConnection(service, limits, bodies, clock, .connection(owner.value)))
      }
    }
    try pipeline.addHandler(connection)
  }
}

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

/// Tells a connection of HTTP/1.1 that bytes have arrived, so that the time of a head begins with its first byte. Belongs to the event loop of the
/// connection.
private final class HeadStart: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let connection: NIOLoopBound<HTTPConnection>

  init(_ connection: HTTPConnection, eventLoop: any EventLoop) {
    self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    connection.value.bytesArrived()
    context.fireChannelRead(data)
  }
}

/// Bounds the time of the handshake of a TLS connection. Belongs to the event loop of the connection.
///
///     added ──handshake completed──► removed
///        └──time over, server ends──► connection closed
private final class TLSHandshake: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Never

  private let time: TimeAmount
  private var timer: Scheduled<Void>?

  /// Makes the bound.
  ///
  /// - Parameter time: The longest time of the handshake.
  init(_ time: TimeAmount) { self.time = time }

  func handlerAdded(context: ChannelHandlerContext) {
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // A handler that was removed passes nothing on.
    context.fireUserInboundEventTriggered(event)
    switch event {
    case TLSUserEvent.handshakeCompleted: context.pipeline.syncOperations.removeHandler(self, promise: nil)
    case is ChannelShouldQuiesceEvent: context.close(promise: nil)
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A client that does not speak TLS, or does not trust the certificate, or has left.
    context.close(promise: nil)
  }
}
