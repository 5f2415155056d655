/// The answer to a request.
public struct HTTPAnswer: Sendable {
  /// The status code.
  public var status: Int
  public var contentType: String
  /// Further headers. The server adds the date, and the length of the body or the transfer coding of a stream.
  public var headers: [(name: String, value: String)]
  /// The body; empty if there is a stream.
  public var body: [UInt8]
  /// Whether the answer may have a body, and headers about it (RFC 9110, 15.4.5).
  var hasContent: Bool { status != 304 }
  /// The body that is made while it is sent; nil if `body` is the whole body.
  public var stream: HTTPBodyStream?

  /// Makes an answer.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - contentType: The content type.
  ///   - headers: Further headers.
  ///   - body: The body.
  public init(status: Int, contentType: String, headers: [(name: String, value: String)] = [], body: [UInt8]) {
    self.status = status
    self.contentType = contentType
    self.headers = headers
    self.body = body
  }

  /// Makes an answer whose body is made while it is sent.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - contentType: The content type.
  ///   - headers: Further headers.
  ///   - stream: The body. A request with the method `HEAD` cancels it.
  public init(
    status: Int, contentType: String, headers: [(name: String, value: String)] = [], stream: HTTPBodyStream
  ) {
    self.init(status: status, contentType: contentType, headers: headers, body: [])
    self.stream = stream
  }
}

/// A body that is made while it is sent, piece by piece. The connection asks for the next piece when the client has taken the one before,
/// so that a slow client holds one piece in memory and no thread.
public struct HTTPBodyStream: Sendable {
  /// A part of a body.
  public enum Piece: Sendable {
    /// The next bytes. Without bytes, the connection asks again.
    case bytes([UInt8])
    /// The body is complete.
    case end
    /// The body cannot be completed. The connection is closed without the mark of a complete body, so that the client sees that a part is
    /// missing.
    case broken
  }

  /// Asks for the next piece.
  let next: @Sendable (@escaping @Sendable (Piece) -> Void) -> Void
  /// Ends a body that nobody takes. May be called on any thread before the first piece is asked for.
  public let cancel: @Sendable () -> Void

  /// Makes a body.
  ///
  /// - Parameters:
  ///   - next: Called on an event loop, one call at a time; it must not block. It passes on one piece, at any time and on any thread. The
  ///     connection waits for it without a limit of its own.
  ///   - cancel: Called at most once on an event loop if the client does not take the whole body. No further piece is asked for.
  public init(
    next: @escaping @Sendable (@escaping @Sendable (Piece) -> Void) -> Void, cancel: @escaping @Sendable () -> Void
  ) {
    self.next = next
    self.cancel = cancel
  }
}
