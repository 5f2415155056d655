import Foundation
import Synchronization
import Testing

/// A server on a port of this host that keeps the HTTP requests which it gets, and answers each, or never answers.
final class RequestServer: Sendable {
  /// The answers to requests.
  enum Behaviour {
    case accepts
    /// Answers with a text.
    case answers(String)
    /// Points to another address.
    case redirects(to: String)
    case neverAnswers

    /// The bytes of an answer; nil if there is none.
    fileprivate var answer: String? {
      switch self {
      case .accepts: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
      case .answers(let text):
        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
      case .redirects(let address):
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: \(address)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
      case .neverAnswers: nil
      }
    }
  }

  let port: UInt16
  private let kept = Mutex<[String]>([])
  private let arrived = DispatchSemaphore(value: 0)

  /// The requests so far, each with its head and its body.
  var requests: [String] { kept.withLock { $0 } }

  init(_ behaviour: Behaviour = .accepts) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The address lives for the calls, which write no more than its size.
    let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(listener, pointer, length) == 0 && listen(listener, 5) == 0
          && getsockname(listener, pointer, &length) == 0
      }
    }
    try #require(isListening)
    port = UInt16(bigEndian: address.sin_port)
    let answer = behaviour.answer.map { Array($0.utf8) }
    Thread.detachNewThread { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        if connection < 0 { return }
        let request = Self.read(connection)
        // Kept first: who has the answer may end at once.
        kept.withLock { $0.append(request) }
        arrived.signal()
        // Without an answer, the connection stays open until the tests end.
        guard let answer else { continue }
        _ = unsafe answer.withUnsafeBytes { unsafe write(connection, $0.baseAddress, $0.count) }
        close(connection)
      }
    }
  }

  /// Reads until the body is as long as the head says.
  private static func read(_ connection: Int32) -> String {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe piece.withUnsafeMutableBytes { unsafe Glibc.read(connection, $0.baseAddress, $0.count) }
      if count <= 0 { break }
      bytes += piece[..<count]
      let text = String(decoding: bytes, as: UTF8.self)
      guard let head = text.firstRange(of: "\r\n\r\n") else { continue }
      let length = text.firstMatch(of: #/(?i)content-length: ([0-9]+)/#).flatMap { Int($0.1) } ?? 0
      if text[head.upperBound...].utf8.count >= length { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the first request; nil if none came in time.
  func wait(seconds: Int) -> String? {
    _ = arrived.wait(timeout: .now() + .seconds(seconds))
    return requests.first
  }
}
