import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// One request of HTTP/2 and its answer, which an `HTTPConnection` sees as a connection of HTTP/1.1 with one request. Belongs to the event
/// loop of its connection.
///
/// It checks the head as the parser of HTTP/1.1 does, so that both have the same bounds. If the answer is complete before the request is,
/// the rest of the request is refused without an error (RFC 9113, 8.1), so that the client reads the answer.
final class HTTP2Stream: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let limits: HTTPServerLimits
  private let requests: HTTPBudget
  /// The address for which the request is counted; nil if it is not.
  private var address: String?
  private var hasHead = false
  private var isHeadMethod = false
  private var hasEnded = false
  /// The last part of the body, which is held back until it is known whether it is the last.
  private var pending: (part: IOData, promise: EventLoopPromise<Void>?)?

  /// The bytes that HTTP/2 counts for each header beside its name and value (RFC 9113, 6.5.2).
  private static let headerOverheadBytes = 32
  /// Headers that HTTP/2 does not have, because the connection is not the answer's (RFC 9113, 8.2.2).
  private static let connectionHeaders: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
  ]

  /// Makes the handler of a request.
  ///
  /// - Parameters:
  ///   - limits: The bounds of the server.
  ///   - requests: The requests of HTTP/2 that may be under way in the whole server.
  init(_ limits: HTTPServerLimits, _ requests: HTTPBudget) {
    self.limits = limits
    self.requests = requests
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    if let address { requests.giveBack(1, of: address) }
    pending?.promise?.fail(ChannelError.ioOnClosedChannel)
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let content) where !hasHead:
      hasHead = true
      isHeadMethod = content.headers.first(name: ":method") == "HEAD"
      let client = context.channel.clientName
      if requests.take(1, for: client) { address = client }
      hasEnded = content.endStream
      do throws(HTTPFault) {
        guard address != nil else { throw .overloaded }
        let head = try head(content.headers)
        context.fireChannelRead(wrapInboundOut(.head(head)))
        if content.endStream { context.fireChannelRead(wrapInboundOut(.end(nil))) }
      } catch {
        context.fireErrorCaught(error)
      }
    case .headers:
      // Trailers, which nobody reads.
      hasEnded = true
      context.fireChannelRead(wrapInboundOut(.end(nil)))
    case .data(let content):
      hasEnded = content.endStream
      if case .byteBuffer(let bytes) = content.data, bytes.readableBytes > 0 {
        context.fireChannelRead(wrapInboundOut(.body(bytes)))
      }
      if content.endStream { context.fireChannelRead(wrapInboundOut(.end(nil))) }
    default: break
    }
  }

  /// Returns the head that HTTP/1.1 would have.
  ///
  /// - Throws: `HTTPFault` if it is too large, or malformed.
  private func head(_ fields: HPACKHeaders) throws(HTTPFault) -> HTTPRequestHead {
    guard fields.count <= limits.headersMax else { throw .headersTooLarge }
    var headers = HTTPHeaders()
    var special: [String: String] = [:]
    var cookies: [String] = []
    var bytes = 0
    for (name, value, _) in fields {
      bytes += name.utf8.count + value.utf8.count + Self.headerOverheadBytes
      if name.hasPrefix(":") {
        special[name] = value
      } else if name == "cookie" {
        // Browsers send each cookie in a header of its own (RFC 9113, 8.2.3).
        cookies.append(value)
      } else {
        headers.add(name: name, value: value)
      }
    }
    guard bytes <= limits.headerBytesMax else { throw .headersTooLarge }
    guard let method = special[":method"], let path = special[":path"], special[":protocol"] == nil,
      path.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { throw .malformed }
    if let authority = special[":authority"] {
      let hosts = headers["host"]
      guard hosts.allSatisfy({ $0 == authority }) else { throw .malformed }
      headers.replaceOrAdd(name: "host", value: authority)
    }
    if !cookies.isEmpty { headers.add(name: "cookie", value: cookies.joined(separator: "; ")) }
    return HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: method), uri: path, headers: headers)
  }

  // MARK: Answers

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head):
      var fields = HPACKHeaders()
      fields.reserveCapacity(head.headers.count + 1)
      fields.add(name: ":status", value: "\(head.status.code)")
      for (name, value) in head.headers {
        let name = name.lowercased()
        if !Self.connectionHeaders.contains(name) { fields.add(name: name, value: value) }
      }
      context.write(wrapOutboundOut(.headers(.init(headers: fields))), promise: promise)
    case .body(let part):
      // An answer to a refused head does not know the method.
      guard !isHeadMethod else {
        promise?.succeed()
        return
      }
      writePending(context)
      pending = (part, promise)
    case .end:
      let last = pending
      pending = nil
      if let promise, let held = last?.promise { promise.futureResult.cascade(to: held) }
      context.write(
        wrapOutboundOut(.data(.init(data: last?.part ?? .byteBuffer(ByteBuffer()), endStream: true))),
        promise: promise ?? last?.promise)
    }
  }

  func flush(context: ChannelHandlerContext) {
    writePending(context)
    context.flush()
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .output else { return context.close(mode: mode, promise: promise) }
    guard !hasEnded else {
      promise?.succeed()
      return
    }
    context.writeAndFlush(wrapOutboundOut(.rstStream(.noError)), promise: promise)
  }

  private func writePending(_ context: ChannelHandlerContext) {
    guard let (part, promise) = pending else { return }
    pending = nil
    context.write(wrapOutboundOut(.data(.init(data: part))), promise: promise)
  }
}
