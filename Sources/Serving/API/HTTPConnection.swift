import NIOCore
import NIOHTTP1

/// One connection of an `HTTPServer`, or one request of HTTP/2, which ends after its answer. Belongs to its event loop.
///
///     waiting ──head──► receiving ──end──► answering ──answer──► sending ──sent──► waiting
///                 │        └─too large, too slow, overloaded─┐ │    ▲ ▲               │
///                 │                                          │ └─► streaming ──broken─┼─► closed
///                 └─refused─► discarding ──end───────────────┼──────┘                 └─► draining ──► closed
///
/// A request that is refused while its body is still coming is answered at the body's end, so that the client reads the answer, unless
/// the body is too large or too slow. In that case the answer is sent at once, and the connection then only drains: its output is closed,
/// and what still arrives is thrown away for at most two seconds. Otherwise the system would reset the connection, and the client would
/// lose the answer.
///
/// Each state but `answering` has a time limit. The service bounds that one. In `waiting` it is that of a head, from its first byte on. In
/// `streaming` the limit is for each piece: a client that does not take one in time is cut off. The time in which a piece is made is bounded
/// by the stream. A client of HTTP/2 that does not take an answer in time loses the whole connection, because what was sent waits there.
///
/// While the service has taken no request of it, a connection gives way to new ones when the server is full.
final class HTTPConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private typealias Operation = @Sendable ([UInt8], @escaping @Sendable (HTTPAnswer) -> Void) -> Void

  /// Whoever is told whether a request is under way that the service has taken, so that the connection does not give way.
  enum Owner {
    /// The open connections of the server, for a connection of HTTP/1.1.
    case server(OpenConnections)
    /// The connection of HTTP/2, for one of its requests.
    case connection(HTTP2Connection)
  }

  private enum RequestPhase {
    case waiting
    case receiving(Operation)
    case discarding(HTTPAnswer)
    case answering
    case streaming(HTTPBodyStream)
    case sending
    case draining
  }

  private let service: any HTTPService
  private let limits: HTTPServerLimits
  private let budget: HTTPBudget
  private let clock: HTTPDateClock
  private let owner: Owner
  private var phase = RequestPhase.waiting {
    didSet {
      switch phase {
      case .waiting, .discarding: set(isBusy: false)
      // A connection that drains is busy until its answer was sent.
      case .receiving, .answering, .streaming, .sending, .draining: set(isBusy: true)
      }
    }
  }
  private var isBusy = false
  private var hasHeadBegun = true
  private var context: ChannelHandlerContext?
  /// The name under which the client is counted.
  private var client = ""
  private var body: [UInt8] = []
  /// The bytes of the body that arrived and are not kept.
  private var discarded = 0
  /// The version, the method and the keep-alive of the request under way.
  private var request = (version: HTTPVersion.http1_1, isHead: false, isKeptAlive: true)
  /// The head of the request under way; nil before the first.
  private var head: HTTPHead?
  /// The number of answers whose end was written.
  private var answers = 0
  private var timer: Scheduled<Void>?
  private var deadline = NIODeadline.distantFuture
  private var timerAt = NIODeadline.distantFuture

  /// The longest time in which a connection that ends throws away what still arrives.
  private static let drainTime = TimeAmount.seconds(2)
  /// Bytes that would make a header `Host` more, or something else, than a host with a port.
  private static let notInHosts = Set(",/?#@\\".utf8)

  /// Makes the handler of a connection.
  ///
  /// - Parameters:
  ///   - service: The program that answers.
  ///   - limits: The bounds of the server.
  ///   - budget: The bytes of bodies that the whole server may hold.
  ///   - clock: Makes the header `Date`.
  ///   - owner: Whoever is told whether a request is under way.
  init(
    _ service: any HTTPService, _ limits: HTTPServerLimits, _ budget: HTTPBudget, _ clock: HTTPDateClock, _ owner: Owner
  ) {
    self.service = service
    self.limits = limits
    self.budget = budget
    self.clock = clock
    self.owner = owner
  }

  private var isHTTP2: Bool { if case .connection = owner { true } else { false } }

  func handlerAdded(context: ChannelHandlerContext) {
    // After a handshake of TLS, the channel is active already.
    if context.channel.isActive { begin(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    begin(context)
    context.fireChannelActive()
  }

  private func begin(_ context: ChannelHandlerContext) {
    self.context = context
    client = context.channel.clientName
    limit(.seconds(Int64(limits.headSeconds)))
  }

  /// Notes that bytes have arrived, which are not parsed yet.
  func bytesArrived() {
    guard case .waiting = phase, !hasHeadBegun else { return }
    hasHeadBegun = true
    limit(.seconds(Int64(limits.headSeconds)))
  }

  /// Tells the owner whether the connection gives way to others.
  private func set(isBusy: Bool) {
    guard isBusy != self.isBusy, let context else { return }
    self.isBusy = isBusy
    switch owner {
    case .server(let connections): connections.set(isBusy: isBusy, context.channel)
    case .connection(let connection): connection.requestChanged(isBusy: isBusy)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    set(isBusy: false)
    self.context = nil
    forgetBody()
    if case .streaming(let stream) = phase { stream.cancel() }
    context.fireChannelInactive()
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): took(head)
    case .body(let bytes): took(bytes)
    case .end: tookEnd()
    }
  }

  private func took(_ head: HTTPRequestHead) {
    switch phase {
    // A request that came together with the one before is handed over as soon as the end of its answer is written, before it is flushed.
    case .waiting, .sending: break
    case .receiving, .discarding, .answering, .streaming, .draining: return
    }
    request = (head.version, head.method == .HEAD, head.isKeepAlive)
    discarded = 0
    limit(.seconds(Int64(limits.requestSeconds)))
    let known = HTTPHead(head, remote: context?.channel.remoteAddress?.ipAddress)
    self.head = known
    guard hasHost(head) else { return refuse(.malformed) }
    let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
    let isAsking = head.headers.first(name: "expect")?.lowercased() == "100-continue"
    switch service.admit(known) {
    case .refused(let answer):
      phase = .discarding(answer)
      if length > limits.bodyBytesMax || isAsking { send(answer, thenDrain: true) }
    case .taken(let operation):
      phase = .receiving(operation)
      if length > limits.bodyBytesMax { return refuse(.bodyTooLarge) }
      if isAsking {
        context?.writeAndFlush(
          wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: .continue))), promise: nil)
      }
    }
  }

  /// Whether a head names its host as it must (RFC 9112, 3.2). HTTP/2 has `:authority` for that, and HTTP/1.0 nothing.
  private func hasHost(_ head: HTTPRequestHead) -> Bool {
    let hosts = head.headers["host"]
    guard hosts.count == 1 else { return hosts.isEmpty && (isHTTP2 || head.version == .http1_0) }
    return hosts[0].utf8.allSatisfy { (0x21...0x7e).contains($0) && !Self.notInHosts.contains($0) }
  }

  private func took(_ bytes: ByteBuffer) {
    switch phase {
    case .receiving:
      guard body.count + bytes.readableBytes <= limits.bodyBytesMax else { return refuse(.bodyTooLarge) }
      guard budget.take(bytes.readableBytes, for: client) else { return refuse(.overloaded) }
      body.append(contentsOf: bytes.readableBytesView)
    case .discarding(let answer):
      discarded += bytes.readableBytes
      if discarded > limits.bodyBytesMax { send(answer, thenDrain: true) }
    case .waiting, .answering, .streaming, .sending, .draining: break
    }
  }

  private func tookEnd() {
    switch phase {
    case .receiving(let operation):
      phase = .answering
      deadline = .distantFuture
      guard let loop = context?.eventLoop else { return }
      let this = NIOLoopBound(self, eventLoop: loop)
      operation(body) { answer in loop.execute { this.value.answered(answer) } }
    case .discarding(let answer):
      phase = .answering
      deadline = .distantFuture
      guard let loop = context?.eventLoop else { return }
      let this = NIOLoopBound(self, eventLoop: loop)
      // Not at once: the end of an answer brings the next request, so the answers to many that came together would nest.
      loop.execute { this.value.answered(answer) }
    case .waiting, .answering, .streaming, .sending, .draining: break
    }
  }

  private func answered(_ answer: HTTPAnswer) {
    guard case .answering = phase, context != nil else {
      answer.stream?.cancel()
      return
    }
    send(answer, thenDrain: false)
  }

  private func refuse(_ fault: HTTPFault) { send(service.answer(to: fault, of: head), thenDrain: true) }

  // MARK: Answers

  /// Sends an answer.
  ///
  /// - Parameter thenDrain: Whether the connection ends after it although the client may still be sending.
  private func send(_ answer: HTTPAnswer, thenDrain: Bool) {
    guard let context else { return }
    forgetBody()
    if let stream = answer.stream { return begin(stream, answer, context) }
    let isLast = thenDrain || !request.isKeptAlive
    phase = isLast ? .draining : .sending
    limit(.seconds(Int64(limits.requestSeconds)))
    var headers = HTTPHeaders(answer.headers)
    headers.add(name: "date", value: clock.text)
    if answer.hasContent {
      headers.add(name: "content-type", value: answer.contentType)
      headers.add(name: "content-length", value: "\(answer.body.count)")
    }
    if isLast { headers.add(name: "connection", value: "close") }
    let head = HTTPResponseHead(
      version: request.version, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if !request.isHead, answer.hasContent {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
    }
    let this = NIOLoopBound(self, eventLoop: context.eventLoop)
    let number = nextAnswer()
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in this.value.sent(number) }
  }

  /// Sends the head of an answer whose body is a stream, and asks for its first piece.
  private func begin(_ stream: HTTPBodyStream, _ answer: HTTPAnswer, _ context: ChannelHandlerContext) {
    // Without chunks, which HTTP/1.0 has none of, only the end of the connection ends the body. The head of an answer to `HEAD` has the
    // length of no body, and an encoder that would mark the end of one. HTTP/2 has a mark of its own.
    if !isHTTP2, request.version == .http1_0 || request.isHead { request.isKeptAlive = false }
    var headers = HTTPHeaders(answer.headers)
    headers.add(name: "date", value: clock.text)
    headers.add(name: "content-type", value: answer.contentType)
    if !request.isKeptAlive { headers.add(name: "connection", value: "close") }
    let head = HTTPResponseHead(
      version: request.version, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
    limit(.seconds(Int64(limits.requestSeconds)))
    let sent = context.writeAndFlush(wrapOutboundOut(.head(head)))
    guard !request.isHead else {
      stream.cancel()
      guard !isHTTP2 else { return finish(context) }
      phase = .draining
      let this = NIOLoopBound(self, eventLoop: context.eventLoop)
      return sent.whenComplete { _ in this.value.context?.close(promise: nil) }
    }
    phase = .streaming(stream)
    pull()
  }

  /// Asks the stream for its next piece.
  private func pull() {
    guard case .streaming(let stream) = phase, let loop = context?.eventLoop else { return }
    deadline = .distantFuture
    let this = NIOLoopBound(self, eventLoop: loop)
    stream.next { piece in loop.execute { this.value.took(piece) } }
  }

  private func took(_ piece: HTTPBodyStream.Piece) {
    guard case .streaming = phase, let context else { return }
    switch piece {
    case .bytes(let bytes):
      guard !bytes.isEmpty else { return pull() }
      limit(.seconds(Int64(limits.requestSeconds)))
      let this = NIOLoopBound(self, eventLoop: context.eventLoop)
      // A failed write is followed by the end of the connection.
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes))))).whenSuccess {
        this.value.pull()
      }
    case .end: finish(context)
    case .broken:
      phase = .draining
      context.close(promise: nil)
    }
  }

  private func nextAnswer() -> Int {
    answers += 1
    return answers
  }

  /// Sends the end of a stream.
  private func finish(_ context: ChannelHandlerContext) {
    phase = request.isKeptAlive ? .sending : .draining
    limit(.seconds(Int64(limits.requestSeconds)))
    let this = NIOLoopBound(self, eventLoop: context.eventLoop)
    let number = nextAnswer()
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in this.value.sent(number) }
  }

  /// Notes that an answer was sent.
  ///
  /// - Parameter number: The number of the answer. The next request may be answered already.
  private func sent(_ number: Int) {
    guard number == answers else { return }
    switch phase {
    case .sending:
      phase = .waiting
      hasHeadBegun = false
      limit(.seconds(Int64(limits.idleSeconds)))
    case .draining:
      set(isBusy: false)
      limit(Self.drainTime)
      context?.close(mode: .output, promise: nil)
    case .waiting, .receiving, .discarding, .answering, .streaming: break
    }
  }

  private func forgetBody() {
    budget.giveBack(body.count, of: client)
    body = []
  }

  // MARK: Errors and time

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let known = (error as? HTTPParserError).map { $0 == .headerOverflow ? HTTPFault.headersTooLarge : .malformed }
    guard let fault = known ?? (error as? HTTPFault) else {
      // The connection is broken, or its parser is at an end and tells so for each further read.
      if error is ByteToMessageDecoderError { return }
      context.close(promise: nil)
      return
    }
    // A connection that ends in the middle of a request is told as malformed, and nobody is there to read an answer.
    guard context.channel.isActive else { return }
    switch phase {
    case .waiting, .receiving, .discarding:
      if case .waiting = phase { (request, head) = ((.http1_1, false, false), nil) }
      refuse(fault)
    case .answering, .streaming: request.isKeptAlive = false
    case .sending, .draining: break
    }
  }

  /// Sets the time in which the present phase is to end.
  private func limit(_ time: TimeAmount) {
    deadline = .now() + time
    // The timer in hand fires earlier, and then waits for the rest.
    if timer == nil || timerAt > deadline { startTimer() }
  }

  private func startTimer() {
    timer?.cancel()
    guard let loop = context?.eventLoop, deadline != .distantFuture else {
      timer = nil
      return
    }
    timerAt = deadline
    let this = NIOLoopBound(self, eventLoop: loop)
    timer = loop.scheduleTask(deadline: deadline) { this.value.timerFired() }
  }

  private func timerFired() {
    timer = nil
    timerAt = .distantFuture
    guard NIODeadline.now() >= deadline else { return startTimer() }
    switch phase {
    case .receiving, .discarding: refuse(.tooSlow)
    case .waiting, .streaming, .sending, .draining:
      (isHTTP2 ? context?.channel.parent : context?.channel)?.close(promise: nil)
    case .answering: break
    }
  }
}
