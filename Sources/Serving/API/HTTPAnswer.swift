/// The answer to a request.
public struct HTTPAnswer: Sendable {
  /// The status code.
  public var status: Int
  /// The content type.
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
