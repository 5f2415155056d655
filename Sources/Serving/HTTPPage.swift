/// A page that machines read: a path, and a closure that makes its content for each request.
public struct HTTPPage: Sendable {
  /// The answer to a request.
  public struct Answer: Sendable {
    /// The status code.
    public var status: Int
    public var contentType: String
    public var body: [UInt8]

    /// Makes an answer.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - contentType: The content type.
    ///   - body: The body.
    public init(status: Int = 200, contentType: String, body: [UInt8]) {
      self.status = status
      self.contentType = contentType
      self.body = body
    }
  }

  /// The path, such as `/metrics`.
  public let path: String
  /// Makes the answer from the header `Accept`, which may be absent. Called on any thread, also on several at a time.
  public let answer: @Sendable (_ accept: String?) -> Answer

  /// Makes a page.
  ///
  /// - Parameters:
  ///   - path: The path, such as `/metrics`.
  ///   - answer: Makes the answer from the header `Accept`. It must not block for long.
  public init(_ path: String, answer: @escaping @Sendable (_ accept: String?) -> Answer) {
    self.path = path
    self.answer = answer
  }
}
