import Glibc
import NIOCore

/// Serves pages to machines over HTTP/1.1: scrapers of metrics, probes, scripts. There is no TLS and no authentication, so the default
/// address is one that only this host reaches.
///
///     start ──► listening ──► stop: no new connections, answers under way are finished, at most two seconds ──► ended
///          └──► HTTPListenerError: the address is taken, or is none of this host
///
/// It has an event loop thread of its own and makes answers on Swift's threads for tasks, so it shares no thread with a planner. No page takes a
/// body, so no client that sends slowly keeps a connection that a probe needs.
public final class HTTPListener: Sendable {
  private let server: HTTPServer

  /// The largest number of connections at a time.
  /// - Beyond: the oldest connection without a complete head is closed for a new one.
  public static let connectionsMax = 512
  /// The largest size of the headers of a request, in bytes.
  /// - Beyond: the request is refused, and its connection is closed.
  static let headerBytesMax = 16_384

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - address: The address to listen on.
  ///   - pages: The pages. Any other path is answered with 404, another method than GET and HEAD with 405, and a request
  ///     with a body with 413.
  ///   - connectionsMax: The largest number of connections at a time.
  /// - Returns: The listener, which listens already.
  /// - Throws: `HTTPListenerError` if the address cannot be had.
  public static func start(
    _ address: HTTPAddress, pages: [HTTPPage], connectionsMax: Int = HTTPListener.connectionsMax
  ) async throws(HTTPListenerError) -> HTTPListener {
    var limits = HTTPServerLimits()
    limits.connectionsMax = connectionsMax
    limits.headerBytesMax = headerBytesMax
    limits.bodyBytesMax = 0
    limits.requestSeconds = 5
    limits.idleSeconds = 30
    limits.stopSeconds = 2
    return HTTPListener(try await HTTPServer.start(address, PageService(pages), limits: limits))
  }

  private init(_ server: HTTPServer) { self.server = server }

  /// The address that the listener has; the port is the one that the system chose if it was given as 0.
  public var address: HTTPAddress { server.address }

  /// Ends the listener. Answers under way get two seconds.
  public func stop() async { await server.stop() }
}

/// Answers with pages.
private struct PageService: HTTPService {
  private let pages: [String: HTTPPage]

  init(_ pages: [HTTPPage]) { self.pages = Dictionary(uniqueKeysWithValues: pages.map { ($0.path, $0) }) }

  func admit(_ head: HTTPHead) -> HTTPAdmission {
    guard let page = pages[head.path] else { return .refused(Self.refusal(404, "no such page")) }
    guard head.method == "GET" || head.method == "HEAD" else {
      return .refused(Self.refusal(405, "a page can only be read", [("allow", "GET, HEAD")]))
    }
    guard head.header("content-length").map({ $0 == "0" }) ?? true, head.header("transfer-encoding") == nil else {
      return .refused(Self.refusal(413, "a page takes no body"))
    }
    let accept = head.list("accept")
    return .taken { _, answer in
      // Not on the event loop: a probe does not wait until a scrape was made.
      Task {
        let page = page.answer(accept)
        answer(HTTPAnswer(status: page.status, contentType: page.contentType, body: page.body))
      }
    }
  }

  func answer(to fault: HTTPFault, of head: HTTPHead?) -> HTTPAnswer {
    switch fault {
    case .malformed: Self.refusal(400, "the request is not HTTP/1.1")
    case .tooSlow: Self.refusal(408, "the request did not arrive in time")
    case .bodyTooLarge: Self.refusal(413, "a page takes no body")
    case .headersTooLarge: Self.refusal(431, "the headers are too large")
    case .overloaded: Self.refusal(503, "too many requests")
    }
  }

  private static func refusal(
    _ status: Int, _ words: String, _ headers: [(name: String, value: String)] = []
  ) -> HTTPAnswer {
    HTTPAnswer(
      status: status, contentType: "text/plain; charset=utf-8", headers: headers, body: Array("\(words)\n".utf8))
  }
}

/// The reason why nothing can listen on an address.
public struct HTTPListenerError: Error, Sendable, CustomStringConvertible {
  public let address: HTTPAddress
  /// Whether another program listens on the address.
  public let isTaken: Bool
  private let cause: String

  /// Makes the error from that of the system.
  init(_ address: HTTPAddress, _ error: any Error) {
    self.address = address
    let code = (error as? IOError)?.errnoCode
    isTaken = code == EADDRINUSE
    cause =
      switch code {
      case EADDRINUSE: "another program listens there"
      case EACCES: "the system allows ports below 1024 to root only"
      case EADDRNOTAVAIL: "no network interface of this host has that address"
      case nil, .some: "\(error)"
      }
  }

  /// One lower-case sentence for an operator, without advice.
  public var description: String { "cannot listen on \(address.text): \(cause)" }
}
