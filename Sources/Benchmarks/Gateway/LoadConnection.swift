import Foundation

/// A connection of the load of a gateway: a blocking socket that sends a request and reads its answer, or does not wait. Used by one thread.
final class LoadConnection {
  private let socket: Int32
  private lazy var buffer = [UInt8](repeating: 0, count: 65_536)
  private var received: [UInt8] = []
  /// The end of the head of the last answer in `received`, and the length of its body.
  private var answer = (head: 0, body: 0)

  /// The size of the body of the last answer, in bytes.
  var bodyBytes: Int { answer.body }
  /// The body of the last answer.
  var bodyText: String { String(decoding: received[answer.head...].dropFirst(4).prefix(answer.body), as: UTF8.self) }
  /// Whether the last answer is a page of HTML.
  var isPage: Bool {
    String(decoding: received[..<answer.head], as: UTF8.self).lowercased().contains("content-type: text/html")
  }

  private static let headEnd = Array("\r\n\r\n".utf8)
  private static let lengthName = Array("content-length:".utf8)

  /// Connects to a port of this host.
  /// - Throws: ``BenchmarkError`` when nothing listens there.
  init(port: Int) throws {
    socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = in_port_t(port).bigEndian
    target.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    // POSIX: the address is lent for the call, which reads as many bytes as it is told.
    let code = unsafe withUnsafePointer(to: &target) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe connect(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw BenchmarkError("nothing listens on port \(port) of this host") }
    var on: Int32 = 1
    // POSIX: the number is lent for the call.
    _ = unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { _ = close(socket) }

  /// Sends a request and waits for its answer.
  /// - Returns: the status code.
  /// - Throws: ``BenchmarkError`` when the connection ends.
  func ask(_ request: [UInt8]) throws -> Int {
    var rest = request[...]
    while !rest.isEmpty {
      // POSIX: the bytes are lent for the call.
      let sent = unsafe rest.withUnsafeBytes {
        unsafe Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { throw BenchmarkError("the gateway closed a connection") }
      rest = rest.dropFirst(sent)
    }
    received.removeAll(keepingCapacity: true)
    while true {
      if let end = Self.find(Self.headEnd, in: received), received.count >= end + 4 + Self.length(received[..<end]) {
        answer = (end, Self.length(received[..<end]))
        return Int(String(decoding: received[9..<12], as: UTF8.self)) ?? 0
      }
      // POSIX: the buffer is lent for the call, which writes at most its size.
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
      guard count > 0 else { throw BenchmarkError("the gateway closed a connection") }
      received += buffer[..<count]
    }
  }

  /// Sends what the system takes at once, unless the other end has answered or closed the connection.
  /// - Returns: Whether the other end is still waiting.
  func send(now bytes: [UInt8]) -> Bool {
    var byte: UInt8 = 0
    // POSIX: the byte and the bytes are lent for the calls, which do not wait.
    let peeked = unsafe recv(socket, &byte, 1, Int32(MSG_DONTWAIT | MSG_PEEK))
    guard peeked < 0, errno == EAGAIN else { return false }
    let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
    let sent = unsafe bytes.withUnsafeBytes { unsafe Foundation.send(socket, $0.baseAddress, $0.count, flags) }
    return sent >= 0 || errno == EAGAIN
  }

  /// Returns the status code of the answer that has arrived; nil if there is none.
  func statusNow() -> Int? {
    // POSIX: the buffer is lent for the call, which does not wait and writes at most its size.
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe recv(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
    }
    return count >= 12 ? Int(String(decoding: buffer[9..<12], as: UTF8.self)) : nil
  }

  private static func length(_ head: ArraySlice<UInt8>) -> Int {
    guard let at = find(lengthName, in: Array(head)) else { return 0 }
    let digits = head[(at + lengthName.count)...].drop { $0 == UInt8(ascii: " ") }
    return digits.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      .reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  private static func find(_ part: [UInt8], in bytes: [UInt8]) -> Int? {
    guard bytes.count >= part.count else { return nil }
    return (0...bytes.count - part.count).first { start in
      bytes[start] == part[0] && bytes[start..<start + part.count].elementsEqual(part)
    }
  }
}
