import ArgumentParser
import Foundation
import Serving

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The page `/status` of a running process, asked over HTTP.
struct StatusPage: Sendable, Equatable {
  /// The address of the page.
  let url: URL

  /// The longest wait for an answer, in seconds.
  /// - Beyond: `rouse doctor` says that the process does not answer.
  static let timeoutMax: TimeInterval = 4

  /// Reads the address of a process: `host:port`, or a URL with or without the path `/status`.
  /// - Returns: nil for any other text.
  init?(_ text: String) {
    let whole = text.contains("://") ? text : "http://\(text)"
    guard var parts = URLComponents(string: whole), ["http", "https"].contains(parts.scheme?.lowercased()),
      parts.host?.isEmpty == false
    else { return nil }
    if ["", "/"].contains(parts.path) { parts.path = "/status" }
    guard let url = parts.url else { return nil }
    self.url = url
  }

  /// Returns the page of a process of this machine.
  /// - Parameter listen: The setting `http.listen`.
  /// - Returns: nil if the port is chosen by the system.
  init?(_ listen: HTTPAddress) {
    guard listen.port != 0 else { return nil }
    // A process that listens on all addresses answers on that of this host.
    let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][listen.host] ?? listen.host
    self.init("http://" + HTTPAddress(host: host, port: listen.port).text)
  }

  /// Asks for the page, and waits for the answer on the calling thread.
  func ask() -> DoctorFacts.ProcessFacts.StatusAnswer {
    let answer: BlockingRequests.RequestAnswer
    do throws(Failure) {
      answer = try BlockingRequests(timeLimit: Self.timeoutMax).send(URLRequest(url: url))
    } catch { return .failure(error.description) }
    guard answer.status == 200 else { return .failure("answers with status \(answer.status)") }
    guard let status = ProcessStatus(json: String(decoding: answer.body, as: UTF8.self)) else {
      return .failure("answers with something other than the status of Rouse")
    }
    return .status(status)
  }
}
