public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// The way to the gateway. An app can bring its own, such as one that pins certificates.
public protocol ClientTransport: Sendable {
  /// Sends a request.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer, whatever its status is.
  /// - Throws: Any error if there was no answer.
  func answer(to request: URLRequest) async throws -> (body: Data, response: HTTPURLResponse)
}

/// The way to the gateway through `URLSession`, without cookies and caches. Redirections are not followed: they would send the key to
/// another address, and turn a `POST` into a `GET`.
public struct URLSessionTransport: ClientTransport {
  private let session: URLSession

  private final class NoRedirection: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }
  }

  /// Makes a transport.
  ///
  /// - Parameter timeout: The time without a byte after which a request is given up.
  public init(timeout: Duration = .seconds(15)) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = timeout / .seconds(1)
    configuration.httpCookieStorage = nil
    configuration.urlCache = nil
    // A gateway needs no more, and a phone has one radio.
    configuration.httpMaximumConnectionsPerHost = 1
    session = URLSession(configuration: configuration, delegate: NoRedirection(), delegateQueue: nil)
  }

  /// Makes a transport with a session of the app.
  ///
  /// - Parameter session: The session. Background sessions do not work: their requests have no answers to wait for. Its delegate says
  ///   whether redirections are followed; it should not.
  public init(session: URLSession) { self.session = session }

  public func answer(to request: URLRequest) async throws -> (body: Data, response: HTTPURLResponse) {
    let (body, response) = try await session.data(for: request)
    guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return (body, response)
  }
}
