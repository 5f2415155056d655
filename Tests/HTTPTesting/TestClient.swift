import Foundation
package import Serving

/// An HTTP client on a blocking socket, which can also send what is no HTTP.
package final class TestClient {
  package struct Answer {
    package var status: Int
    package var headers: [String: String]
    package var body: [UInt8]
    package var text: String { String(decoding: body, as: UTF8.self) }
  }

  private let socket: Int32
  private var received: [UInt8] = []

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - address: The address of the server, on this machine.
  ///   - source: The address of this machine from which the client comes, such as `127.0.0.2`; nil for any.
  ///   - receiveBufferBytes: The size of the system's buffer for received bytes; nil for that of the system.
  package init(_ address: HTTPAddress, from source: String? = nil, receiveBufferBytes: Int32? = nil) throws {
    socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if var receiveBufferBytes {
      // The value lives for the call.
      _ = unsafe setsockopt(
        socket, SOL_SOCKET, SO_RCVBUF, &receiveBufferBytes, socklen_t(MemoryLayout<Int32>.size))
    }
    // `call` lends the address.
    if let source { try unsafe Self.call(source, 0) { unsafe bind(socket, $0, $1) } }
    try unsafe Self.call("127.0.0.1", address.port) { unsafe connect(socket, $0, $1) }
  }

  /// Calls a function of the system with an address.
  private static func call(
    _ host: String, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = unsafe inet_addr(host)
    // The address lives for the call, which reads as many bytes as it has.
    let code = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  deinit { _ = close(socket) }

  /// Sends bytes as they are. A connection that the server has closed is seen by the next read.
  package func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      // The bytes are lent for the call.
      let sent = unsafe rest.withUnsafeBytes {
        unsafe Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return }
      rest = rest.dropFirst(sent)
    }
  }

  package func send(_ text: String) { send(Array(text.utf8)) }

  /// Sends a request.
  package func send(_ method: String, _ path: String, _ headers: [(String, String)] = [], _ body: [UInt8] = []) {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if !headers.contains(where: { $0.0.lowercased() == "content-length" || $0.0.lowercased() == "transfer-encoding" }) {
      head += "Content-Length: \(body.count)\r\n"
    }
    send(Array((head + "\r\n").utf8) + body)
  }

  /// Reads the next answer; nil if the server has closed the connection.
  package func answer(isHead: Bool = false) -> Answer? {
    while true {
      if let end = headEnd {
        let lines = String(decoding: received[..<end], as: UTF8.self).components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
          guard let colon = line.firstIndex(of: ":") else { continue }
          headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        if !isHead, headers["transfer-encoding"] == "chunked" {
          received.removeFirst(end + 4)
          guard let body = chunkedBody() else { return nil }
          return Answer(status: status, headers: headers, body: body)
        }
        let count = isHead || status == 100 ? 0 : headers["content-length"].flatMap { Int($0) } ?? 0
        if received.count >= end + 4 + count {
          let body = Array(received[(end + 4)..<(end + 4 + count)])
          received.removeFirst(end + 4 + count)
          return Answer(status: status, headers: headers, body: body)
        }
      }
      guard readMore() else { return nil }
    }
  }

  /// Whether the server closes the connection without a further byte.
  package var isClosed: Bool { received.isEmpty && !readMore() }

  /// Reads a chunked body to its end; nil if the connection ends before.
  private func chunkedBody() -> [UInt8]? {
    var body: [UInt8] = []
    while let chunk = chunk() {
      if chunk.isEmpty { return body }
      body += chunk
    }
    return nil
  }

  /// Reads the next chunk of a body; empty at the end of the body, nil if the connection ends before.
  package func chunk() -> [UInt8]? {
    guard let line = line(), let count = Int(line, radix: 16) else { return nil }
    while received.count < count + 2 { guard readMore() else { return nil } }
    defer { received.removeFirst(count + 2) }
    return Array(received[..<count])
  }

  /// Reads a line; nil if the connection ends before.
  package func line() -> String? {
    while true {
      if let end = received.firstIndex(of: 13), end + 1 < received.count {
        defer { received.removeFirst(end + 2) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      guard readMore() else { return nil }
    }
  }

  /// Reads the head of an answer; nil if the connection ends before.
  package func head() -> String? {
    while true {
      if let end = headEnd {
        defer { received.removeFirst(end + 4) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      guard readMore() else { return nil }
    }
  }

  /// The bytes until the end of the connection.
  package var rest: [UInt8] {
    while readMore() {}
    return received
  }

  private var headEnd: Int? {
    guard received.count >= 4 else { return nil }
    return (0...(received.count - 4)).first { Array(received[$0..<$0 + 4]) == [13, 10, 13, 10] }
  }

  private func readMore() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    // The buffer is lent for the call.
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
    guard count > 0 else { return false }
    received += buffer[..<count]
    return true
  }
}

/// Runs a closure on a thread of its own, because it blocks.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread { continuation.resume(with: Result { try body() }) }.start()
  }
}

extension TestClient {
  /// Sends a request and reads its answer.
  package func ask(
    _ method: String, _ path: String, _ headers: [(String, String)] = [], _ body: String = ""
  ) throws -> Answer {
    send(method, path, headers, Array(body.utf8))
    guard let answer = answer(isHead: method == "HEAD") else { throw ClosedConnection() }
    return answer
  }
}

extension TestClient.Answer {
  /// Returns how an answer to `HEAD` differs from this one to `GET` beside its body; empty if it does not (RFC 9110, 9.3.2).
  package func faults(ofHead head: TestClient.Answer) -> [String] {
    var faults = status == head.status ? [] : ["\(head.status) in place of \(status)"]
    if !head.body.isEmpty { faults.append("a body of \(head.body.count) bytes") }
    // A stream has no length, and one without a body ends with its connection.
    for name in Set(headers.keys).union(head.headers.keys).subtracting(["date", "connection", "transfer-encoding"])
    where headers[name] != head.headers[name] {
      faults.append("\(name): \(head.headers[name] ?? "none") in place of \(headers[name] ?? "none")")
    }
    return faults.sorted()
  }
}

/// The server closed the connection before its answer was complete.
struct ClosedConnection: Error {}
