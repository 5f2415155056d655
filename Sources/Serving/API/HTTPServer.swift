import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

/// Serves an `HTTPService`, with bounds on everything that a client can take: connections, headers, bodies and time. With a certificate
/// it serves TLS alone, and clients choose between HTTP/2 and HTTP/1.1 (ALPN). Without one it serves HTTP/1.1.
///
/// It stands up to clients that nobody knows: a head has `headSeconds`; at the bound, the oldest connection without a complete head gives way to a new
/// one; and the clients of one address have a share. So silent strangers keep nobody from an answer.
///
///     start ──► listening ──► stop: no new connections, answers under way are finished, at most `stopSeconds` ──► ended
///          └──► HTTPListenerError: the address is taken, or is none of this host
///
/// Its event loops are its own. It shares no thread with a planner.
public final class HTTPServer: Sendable {
  /// The address that the server has; the port is the one that the system chose if it was given as 0.
  public let address: HTTPAddress
  private let limits: HTTPServerLimits
  private let listening: any Channel
  private let connections: OpenConnections
  private let loops: MultiThreadedEventLoopGroup
  private let renewal: Task<Void, Never>?

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - address: The address to listen on.
  ///   - service: The program that answers.
  ///   - limits: The bounds.
  ///   - certificate: The certificate of TLS, which is looked at once a second for a renewal; nil for no TLS.
  /// - Returns: The server, which listens already.
  /// - Throws: `HTTPListenerError` if the address cannot be had.
  public static func start(
    _ address: HTTPAddress, _ service: any HTTPService, limits: HTTPServerLimits = HTTPServerLimits(),
    certificate: TLSCertificate? = nil
  ) async throws(HTTPListenerError) -> HTTPServer {
    let loops = MultiThreadedEventLoopGroup(numberOfThreads: limits.threads)
    let connections = OpenConnections(
      connectionsMax: limits.connectionsMax, shareMax: HTTPServerLimits.share(of: limits.connectionsMax))
    let channels = HTTPChannels(service, limits, connections)
    let bootstrap = ServerBootstrap(group: loops)
      .serverChannelOption(.backlog, value: backlog)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // One by one, so that the bound on connections is exact.
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ConnectionLimit(connections))
        }
      }
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channels.configure(channel, certificate?.context)
        }
      }
    do {
      let channel = try await bootstrap.bind(host: address.host, port: address.port).get()
      return HTTPServer(address, channel, limits, connections, loops, certificate)
    } catch {
      // The loops have no work left; an error of their end would hide the reason.
      try? await loops.shutdownGracefully()
      throw HTTPListenerError(address, error)
    }
  }

  /// The connections that the system keeps until the server takes them.
  private static let backlog: Int32 = 1024
  /// The time between two looks at the files of the certificate.
  private static let renewalInterval = Duration.seconds(1)

  private init(
    _ address: HTTPAddress, _ channel: any Channel, _ limits: HTTPServerLimits, _ connections: OpenConnections,
    _ loops: MultiThreadedEventLoopGroup, _ certificate: TLSCertificate?
  ) {
    self.address = HTTPAddress(host: address.host, port: channel.localAddress?.port ?? address.port)
    self.limits = limits
    listening = channel
    self.connections = connections
    self.loops = loops
    renewal = certificate.map { certificate in
      Task {
        // A cancelled sleep ends the loop.
        while (try? await Task.sleep(for: Self.renewalInterval)) != nil { certificate.refresh() }
      }
    }
  }

  /// The number of open connections.
  public var connectionCount: Int { connections.count }

  /// Ends the server. Answers under way get `stopSeconds`.
  public func stop() async {
    renewal?.cancel()
    // Errors of closing say that a connection was closed already.
    try? await listening.close()
    for channel in connections.all { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    let deadline = ContinuousClock.now + .seconds(limits.stopSeconds)
    while connections.count > 0, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(10)) }
    for channel in connections.all { try? await channel.close() }
    try? await loops.shutdownGracefully()
  }
}
