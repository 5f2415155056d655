import HTTPTypes
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Serves pages to machines over HTTP/1.1: scrapers of metrics, probes, scripts. There is no TLS and no authentication, so the default
/// address is one that only this host reaches.
///
///     start ──► listening ──► stop: no new connections, answers under way are finished, at most `stopSeconds` ──► ended
///          └──► HTTPListenerError: the address is taken, or is none of this host
///
/// Everything is bounded: connections, headers, the time of an idle connection, and bodies, which no page takes. It has an event loop
/// thread of its own and makes answers on Swift's threads for tasks, so it shares no thread with a planner.
public final class HTTPListener: Sendable {
  /// The address that the listener has; the port is the one that the system chose if it was given as 0.
  public let address: HTTPAddress
  private let service: ServiceGroup
  private let running: Task<Void, any Error>
  private let loops: MultiThreadedEventLoopGroup

  /// The largest number of connections at a time.
  /// - Beyond: further connections wait until one of these ends.
  static let connectionsMax = 64
  /// The largest size of the headers of a request, in bytes.
  /// - Beyond: the request is refused, and its connection is closed.
  static let headerBytesMax = 16_384
  /// The time after which an idle connection is closed.
  private static let idleTimeout = TimeAmount.seconds(30)
  /// The longest time for an orderly end, in seconds.
  private static let stopSeconds = 2

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - address: The address to listen on.
  ///   - pages: The pages. Any other path is answered with 404, another method than GET and HEAD with 405, and a request
  ///     with a body with 413.
  ///   - logger: Gets what goes wrong with connections.
  /// - Returns: The listener, which listens already.
  /// - Throws: `HTTPListenerError` if the address cannot be had.
  public static func start(
    _ address: HTTPAddress, pages: [HTTPPage], logger: Logger
  ) async throws(HTTPListenerError) -> HTTPListener {
    var logger = logger
    // The caller says that it listens, in its own words.
    logger.logLevel = max(logger.logLevel, .warning)
    let (outcomes, outcome) = AsyncStream.makeStream(of: Result<Int, any Error>.self)
    let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let application = Application(
      router: router(pages),
      server: .http1(
        configuration: HTTP1Channel.Configuration(
          idleTimeout: idleTimeout,
          httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: headerBytesMax, maxHeaderListSize: headerBytesMax, maxHeaderFieldCount: 100))),
      configuration: ApplicationConfiguration(
        address: .hostname(address.host, port: address.port),
        availableConnectionsDelegate: MaximumAvailableConnections(connectionsMax, logger: logger)),
      onServerRunning: { outcome.yield(.success($0.localAddress?.port ?? address.port)) },
      eventLoopGroupProvider: .shared(loops), logger: logger)
    var configuration = ServiceGroupConfiguration(services: [application], logger: logger)
    configuration.maximumGracefulShutdownDuration = Duration.seconds(stopSeconds)
    let service = ServiceGroup(configuration: configuration)
    let running = Task {
      do { try await service.run() } catch {
        outcome.yield(.failure(error))
        outcome.finish()
        throw error
      }
      outcome.finish()
    }
    for await result in outcomes {
      switch result {
      case .success(let port):
        return HTTPListener(HTTPAddress(host: address.host, port: port), service, running, loops)
      case .failure(let error):
        try? await loops.shutdownGracefully()
        throw HTTPListenerError(address, error)
      }
    }
    try? await loops.shutdownGracefully()
    throw HTTPListenerError(address, CancellationError())
  }

  private init(
    _ address: HTTPAddress, _ service: ServiceGroup, _ running: Task<Void, any Error>,
    _ loops: MultiThreadedEventLoopGroup
  ) {
    self.address = address
    self.service = service
    self.running = running
    self.loops = loops
  }

  /// Ends the listener. Answers under way get two seconds.
  public func stop() async {
    await service.triggerGracefulShutdown()
    // The connections are closed either way, and nobody waits for their answers any more.
    _ = await running.result
    try? await loops.shutdownGracefully()
  }

  private static func router(_ pages: [HTTPPage]) -> Router<BasicRequestContext> {
    let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
    router.add(middleware: PageMethods(paths: Set(pages.map(\.path))))
    for page in pages {
      router.get(RouterPath(page.path)) { request, _ in
        guard request.headers[.contentLength].map({ $0 == "0" }) ?? true, request.headers[.transferEncoding] == nil
        else { return Response(status: .contentTooLarge, headers: [.connection: "close"]) }
        let answer = page.answer(request.headers[values: .accept].joined(separator: ","))
        return Response(
          status: HTTPResponse.Status(code: answer.status), headers: [.contentType: answer.contentType],
          body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
      }
    }
    return router
  }

  /// Refuses methods that change something. Without it, the answer would be that there is no such page.
  private struct PageMethods: RouterMiddleware {
    let paths: Set<String>

    func handle(
      _ request: Request, context: BasicRequestContext,
      next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
      guard paths.contains(request.uri.path), request.method != .get, request.method != .head else {
        return try await next(request, context)
      }
      return Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD", .connection: "close"])
    }
  }
}
