import ArgumentParser
import Dispatch
import Foundation
import Operating
import Serving
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The page `/status` of a running process, asked over HTTP.
struct StatusPage: Sendable, Equatable, Hashable {
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

  /// The addresses that the host has now, as pages: one for each member of a Kubernetes Service without an address of its own, for example. The
  /// page itself if its certificate names the host, or if the host has no address.
  var resolved: [StatusPage] {
    guard url.scheme == "http", let host = url.host(percentEncoded: false), !host.contains(":") else { return [self] }
    let pages = HostAddresses.find(host).compactMap { address -> StatusPage? in
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
      parts?.host = address.contains(":") ? "[\(address)]" : address
      return parts?.url.map { StatusPage(url: $0) }
    }
    return pages.isEmpty ? [self] : pages
  }

  /// Whether the address names a port.
  var namesPort: Bool { url.port != nil }

  /// The host with the port, as a person would name the process.
  var address: String {
    guard let host = url.host(percentEncoded: false) else { return url.absoluteString }
    return (host.contains(":") ? "[\(host)]" : host) + (url.port.map { ":\($0)" } ?? "")
  }

  private init(url: URL) { self.url = url }

  /// Asks for pages at the same time, with at most `threadsMax` questions under way.
  ///
  /// - Returns: The answers, in the order of the pages.
  static func ask(_ pages: [StatusPage]) -> [ProcessStatus.StatusAnswer] {
    let answers = Mutex([ProcessStatus.StatusAnswer?](repeating: nil, count: pages.count))
    let next = Atomic(0)
    let ended = DispatchGroup()
    // Threads of their own: each question only waits, and a queue has as many threads as there are cores.
    for _ in 0..<min(threadsMax, pages.count) {
      ended.enter()
      let thread = Thread {
        while true {
          let place = next.add(1, ordering: .relaxed).oldValue
          guard place < pages.count else { break }
          let answer = pages[place].ask()
          answers.withLock { $0[place] = answer }
        }
        ended.leave()
      }
      thread.name = "status-pages"
      thread.start()
    }
    ended.wait()
    return answers.withLock { $0.map { $0 ?? .failure("was not asked") } }
  }

  /// The most questions under way.
  /// - Beyond: further processes are asked when one of these has answered.
  private static let threadsMax = 32

  /// Asks for the page, and waits for the answer on the calling thread.
  func ask() -> ProcessStatus.StatusAnswer {
    let asked = Machine.now
    let answer: BlockingRequests.RequestAnswer
    do throws(Failure) {
      answer = try BlockingRequests(timeLimit: Self.timeoutMax).send(URLRequest(url: url))
    } catch { return .failure(error.description) }
    guard answer.status == 200 else { return .failure("answers with status \(answer.status)") }
    guard var status = ProcessStatus(json: String(decoding: answer.body, as: UTF8.self)) else {
      return .failure("answers with something other than the status of Rouse")
    }
    status.compareClocks(asked: asked, answered: Machine.now)
    return .status(status)
  }
}
