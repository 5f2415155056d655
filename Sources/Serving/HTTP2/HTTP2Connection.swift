import NIOCore
import NIOHTTP2

/// The life of one connection of HTTP/2: without a request under way it ends after a while, and with the server. Belongs to its event loop.
///
///     idle ◄──last request ended── serving          idle, serving ──server ends, error──► ending ──last request ended──► closed
///      │ └────────request────────────►               └──of idle, time over, place needed──► closed
///
/// A client is told with GOAWAY before the connection is closed, so that it sends its next requests elsewhere. Pings do not make a
/// connection busy. After a violation of the protocol no further request is taken. One that concerns a single request leaves the others
/// alone, because they may be those of other users of a proxy.
final class HTTP2Connection: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  /// Tells a connection of its requests.
  struct Streams: NIOHTTP2StreamDelegate {
    private let connection: NIOLoopBound<HTTP2Connection>

    init(_ connection: HTTP2Connection, eventLoop: any EventLoop) {
      self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
    }

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) { connection.value.began(id) }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) { connection.value.ended(id) }
  }

  private let limits: HTTPServerLimits
  private let connections: OpenConnections
  private var streams: Set<HTTP2StreamID> = []
  /// The number of requests that the service has taken and that are not answered.
  private var takenCount = 0
  private var lastStream = HTTP2StreamID.rootStream
  private var isEnding = false
  private var timer: Scheduled<Void>?
  private var context: ChannelHandlerContext?

  /// Makes the handler of a connection.
  ///
  /// - Parameters:
  ///   - limits: The bounds of the server: the first request must begin in `headSeconds`, later ones within `idleSeconds` of each other.
  ///   - connections: The open connections of the server.
  init(_ limits: HTTPServerLimits, _ connections: OpenConnections) {
    self.limits = limits
    self.connections = connections
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    startTimer(limits.headSeconds)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
    self.context = nil
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { end() }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The request of such a mistake was reset already.
    if !NIOHTTP2Errors.isOfOneRequest(error) { end() }
  }

  private func began(_ stream: HTTP2StreamID) {
    streams.insert(stream)
    lastStream = max(lastStream, stream)
    timer?.cancel()
  }

  private func ended(_ stream: HTTP2StreamID) {
    guard streams.remove(stream) != nil, streams.isEmpty else { return }
    if isEnding { closeSoon() } else { startTimer(limits.idleSeconds) }
  }

  /// Notes that the service has taken a request of the connection, or that one has its answer. A connection without such requests gives
  /// way to new ones when the server is full.
  func requestChanged(isBusy: Bool) {
    takenCount += isBusy ? 1 : -1
    guard let context, takenCount == (isBusy ? 1 : 0) else { return }
    connections.set(isBusy: isBusy, context.channel)
  }

  private func startTimer(_ seconds: Int) {
    timer?.cancel()
    guard let context else { return }
    let this = NIOLoopBound(self, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: .seconds(Int64(seconds))) { this.value.end() }
  }

  /// Takes no further requests, and closes the connection after the last one.
  private func end() {
    guard let context, !isEnding else { return }
    isEnding = true
    timer?.cancel()
    let farewell = HTTP2Frame(
      streamID: .rootStream, payload: .goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: nil))
    context.writeAndFlush(wrapOutboundOut(farewell), promise: nil)
    if streams.isEmpty { closeSoon() }
  }

  /// Closes the connection after the flush of the answer's last frame: a stream ends when that frame is written.
  private func closeSoon() {
    guard let context else { return }
    let this = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.execute { this.value.context?.close(promise: nil) }
  }
}

extension NIOHTTP2Errors {
  /// Whether an error is that of a single request, such as a malformed head (RFC 9113, 8.1.1), and not one of the connection.
  fileprivate static func isOfOneRequest(_ error: any Error) -> Bool {
    switch error {
    case is StreamError, is MissingPseudoHeader, is DuplicatePseudoHeader, is PseudoHeaderAfterRegularHeader,
      is UnknownPseudoHeader, is UnsupportedPseudoHeader, is InvalidPseudoHeaders, is InvalidPseudoHeaderValue,
      is EmptyPathHeader, is DuplicateHostHeader, is ForbiddenHeaderField, is InvalidHTTP2HeaderFieldName,
      is InvalidHTTP2HeaderFieldValue, is ContentLengthViolated, is ContentLengthHeadersMismatch,
      is ContentLengthHeaderNegative, is ContentLengthHeaderMalformedValue:
      true
    default: false
    }
  }
}
