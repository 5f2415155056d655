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
