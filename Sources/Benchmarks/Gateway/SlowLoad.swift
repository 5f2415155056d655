import Foundation

/// Clients of a gateway that begin a request and then send one byte a second, so that it never ends. One that is cut off begins anew.
package struct SlowLoad {
  /// The port of the gateway on this host.
  package var port: Int
  /// The number of connections.
  package var connections: Int
  /// The bytes of a body that are sent at once.
  package var bytes: Int

  /// The figures of a run.
  package struct Result: Sendable {
    /// The number of requests that were refused with 503, because of the bound on the bodies of all requests.
    package var refused = 0
    /// The number of requests that were cut off with 408 or by the end of the connection.
    package var cutOff = 0
  }

  /// Describes a load.
  package init(port: Int, connections: Int, bytes: Int) {
    self.port = port
    self.connections = connections
    self.bytes = bytes
  }

  /// Runs the load until standard input ends.
  /// - Throws: ``BenchmarkError`` when nothing listens any more.
  package func run() throws -> Result {
    var result = Result()
    var head = Array(
      "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/cloudevents+json\r\nContent-Length: 1000000\r\n\r\n"
        .utf8)
    head += [UInt8](repeating: UInt8(ascii: " "), count: bytes)
    var open: [LoadConnection] = []
    for _ in 0..<connections {
      let connection = try LoadConnection(port: port)
      _ = connection.send(now: head)
      open.append(connection)
    }
    let ended = InputEnd()
    while !ended.isReached {
      for at in open.indices where !open[at].send(now: [UInt8(ascii: " ")]) {
        if open[at].statusNow() == 503 { result.refused += 1 } else { result.cutOff += 1 }
        open[at] = try LoadConnection(port: port)
        _ = open[at].send(now: head)
      }
      ended.wait(seconds: 1)
    }
    return result
  }
}

/// Waits for the end of standard input.
private final class InputEnd: Sendable {
  private let end = DispatchSemaphore(value: 0)

  init() {
    let end = end
    let thread = BenchmarkThread(name: "input")
    thread.start {
      _ = try FileHandle.standardInput.readToEnd()
      end.signal()
    }
  }

  var isReached: Bool { wait(seconds: 0) }

  @discardableResult func wait(seconds: Double) -> Bool {
    guard end.wait(timeout: .now() + seconds) == .success else { return false }
    end.signal()
    return true
  }
}
