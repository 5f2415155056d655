import Foundation
package import Serving

/// A client of HTTP/2 over TLS that sends frames one by one, also those that no proper client sends. `openssl s_client` does the TLS.
package final class TestHTTP2Client {
  /// A frame (RFC 9113, 4.1).
  package struct Frame {
    package var type: UInt8
    package var flags: UInt8
    package var stream: Int
    package var payload: [UInt8]

    /// The types that tests look for.
    package static let data: UInt8 = 0, headers: UInt8 = 1, reset: UInt8 = 3, settings: UInt8 = 4, goAway: UInt8 = 7
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var received: [UInt8] = []
  private var bodies: [Int: [UInt8]] = [:]

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - address: The address of the server, on this machine.
  ///   - settings: The settings of HTTP/2 that are sent first; nil to send nothing after the handshake.
  package init(_ address: HTTPAddress, settings: [(id: UInt8, value: UInt32)]? = []) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = ["s_client", "-connect", "127.0.0.1:\(address.port)", "-alpn", "h2", "-quiet"]
    (process.standardInput, process.standardOutput, process.standardError) = (input, output, FileHandle.nullDevice)
    try process.run()
    guard let settings else { return }
    send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
    send(Frame.settings, 0, 0, settings.flatMap { [0, $0.id] + Self.bytes($0.value) })
  }

  deinit { if process.isRunning { process.terminate() } }

  /// Sends bytes as they are.
  package func send(_ bytes: [UInt8]) { try? input.fileHandleForWriting.write(contentsOf: Data(bytes)) }

  /// Sends a frame.
  package func send(_ type: UInt8, _ flags: UInt8, _ stream: Int, _ payload: [UInt8] = []) {
    send(Self.bytes(UInt32(payload.count)).dropFirst() + [type, flags] + Self.bytes(UInt32(stream)) + payload)
  }

  /// Sends the head of a request.
  ///
  /// - Parameters:
  ///   - stream: The number of the request: 1, 3, 5 and so on.
  ///   - isWhole: Whether the request has no body.
  package func request(
    _ stream: Int, _ method: String, _ path: String, _ headers: [(String, String)] = [], isWhole: Bool = true
  ) {
    var block: [UInt8] = []
    for (name, value) in [(":method", method), (":scheme", "https"), (":path", path), (":authority", "localhost")]
      + headers
    {
      // A literal without an index (RFC 7541, 6.2.2).
      block += [0] + Self.text(name) + Self.text(value)
    }
    send(Frame.headers, isWhole ? 5 : 4, stream, block)
  }

  /// Reads the next frame; nil if the connection has ended.
  package func frame() -> Frame? {
    while true {
      if received.count >= 9 {
        let length = Int(received[0]) << 16 | Int(received[1]) << 8 | Int(received[2])
        if received.count >= 9 + length {
          let stream = received[5..<9].reduce(0) { $0 << 8 | Int($1) }
          let frame = Frame(
            type: received[3], flags: received[4], stream: stream, payload: Array(received[9..<9 + length]))
          received.removeFirst(9 + length)
          return frame
        }
      }
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { return nil }
      received += more
    }
  }

  /// Reads frames until the answer to a request is complete.
  ///
  /// - Parameter stream: The number of the request.
  /// - Returns: The body; nil if the request is reset, or the connection ends before.
  package func body(_ stream: Int) -> String? {
    while let frame = frame() {
      if frame.stream == stream, frame.type == Frame.reset { return nil }
      if frame.type == Frame.data { bodies[frame.stream, default: []] += frame.payload }
      if frame.stream == stream, frame.type <= Frame.headers, frame.flags & 1 == 1 {
        return String(decoding: bodies[stream] ?? [], as: UTF8.self)
      }
    }
    return nil
  }

  /// Reads to the end of the connection.
  ///
  /// - Returns: The types of the frames.
  package func rest() -> [UInt8] {
    var types: [UInt8] = []
    while let frame = frame() { types.append(frame.type) }
    return types
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  /// Returns a string without compression (RFC 7541, 5.1 and 5.2).
  private static func text(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
    var length: [UInt8] = [127]
    var rest = bytes.count - 127
    while rest >= 128 {
      length.append(UInt8(rest % 128 + 128))
      rest /= 128
    }
    return length + [UInt8(rest)] + bytes
  }
}
