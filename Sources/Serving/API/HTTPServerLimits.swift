/// The bounds of an `HTTPServer`.
public struct HTTPServerLimits: Sendable {
  /// The threads of the server, which it shares with nothing else.
  public var threads = 1
  /// The largest number of connections at a time.
  /// - Beyond: the oldest connection without a complete head is closed for a new one. If there is none, further connections wait in the system's
  ///   queue until one of these ends.
  public var connectionsMax = 1000
  /// The largest number of requests that a connection of HTTP/2 has under way at a time.
  /// - Beyond: clients wait with further ones. A client that does not gets no answer to them, and loses the connection after the others.
  public var streamsMax = 100
  /// The largest number of requests of HTTP/2 under way at a time, on all connections together.
  /// - Beyond: a request is refused with 503.
  public var requestsMax = 10_000
  /// The largest size of the headers of a request, in bytes.
  /// - Beyond: the request is refused with 431, and its connection is closed.
  public var headerBytesMax = 16_384
  /// The largest number of headers of a request.
  /// - Beyond: the request is refused with 431, and its connection is closed.
  public var headersMax = 100
  /// The largest size of the body of a request, in bytes.
  /// - Beyond: the request is refused with 413, and its connection is closed.
  public var bodyBytesMax = 1 << 20
  /// The bytes of the bodies of all requests under way together.
  /// - Beyond: a request is refused with 503, and its connection is closed.
  public var bodiesBytesMax = 64 << 20
  /// The longest time in which the head of a request must be complete: from the beginning of the connection, and of a later request from its first
  /// byte, in seconds. It is also the longest time of a handshake of TLS.
  /// - Beyond: the connection is closed.
  public var headSeconds = 5
  /// The longest time from the head of a request to the end of its body, and for sending an answer, in seconds.
  /// - Beyond: the request is refused with 408; a connection whose client does not take the answer is closed.
  public var requestSeconds = 10
  /// The longest time in which a connection waits for its next request, in seconds.
  /// - Beyond: the connection is closed.
  public var idleSeconds = 60
  /// The longest time for an orderly end, in seconds.
  /// - Beyond: connections are closed, also with an answer under way.
  public var stopSeconds = 5

  /// Makes the default bounds.
  public init() {}

  /// Returns the most that the clients of one address may have of something that all clients share: three quarters, so that others find a place
  /// beside a client that takes what it can get, and a proxy, which is one address, is hardly held back.
  ///
  /// - Parameter all: The most that all clients may have together.
  static func share(of all: Int) -> Int { all - all / 4 }

  /// Returns the descriptors that a server holds for its connections, those that are being closed and the socket on which it listens among them.
  ///
  /// - Parameter connections: The largest number of connections.
  public static func descriptors(connections: Int) -> Int { connections + OpenConnections.closingMax + 1 }
}
