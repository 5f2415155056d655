/// The program behind an `HTTPServer`: it looks at the head of a request first, and gets the body only if it wants it.
public protocol HTTPService: Sendable {
  /// Looks at the head of a request. Called on an event loop, also on several at a time; it must not block.
  ///
  /// - Parameter head: The head.
  /// - Returns: A refusal, or the operation that is to get the body.
  func admit(_ head: HTTPHead) -> HTTPAdmission

  /// Returns the answer to a request that the server itself cannot take. Called on an event loop; it must not block.
  ///
  /// - Parameters:
  ///   - fault: The reason.
  ///   - head: The head of the request; nil if there is none yet, or none that can be read.
  func answer(to fault: HTTPFault, of head: HTTPHead?) -> HTTPAnswer
}

/// The outcome of a look at the head of a request.
public enum HTTPAdmission: Sendable {
  /// The request is refused. Its body is not kept.
  case refused(HTTPAnswer)
  /// The request is taken.
  ///
  /// - `operation`: Called once on an event loop with the body; it must not block. It answers once, at any time and on any thread.
  case taken(operation: @Sendable (_ body: [UInt8], _ answer: @escaping @Sendable (HTTPAnswer) -> Void) -> Void)
}

/// The reason why a server cannot take a request.
public enum HTTPFault: Error, Sendable, CaseIterable {
  /// The bytes are no request of HTTP.
  case malformed
  /// The body did not arrive in time.
  case tooSlow
  /// The body is larger than the server takes.
  case bodyTooLarge
  /// The headers are larger than the server takes.
  case headersTooLarge
  /// The bodies of all requests together are larger, or the requests of HTTP/2 are more, than the server takes.
  case overloaded
}
