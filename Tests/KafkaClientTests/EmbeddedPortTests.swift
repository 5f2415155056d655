import Foundation
import Testing

@testable import KafkaClient

@Suite("The port of an embedded broker") struct EmbeddedPortTests {
  @Test("nobody else gets it while the broker is down, and connections to it are refused")
  func held() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let port = try #require(cluster.broker.bootstrapServers.split(separator: ":").last.flatMap { UInt16($0) })
    #expect(TCP.connects(to: port))
    try cluster.broker.setBrokerDown()
    try cluster.broker.setBrokerDown()
    #expect(!TCP.connects(to: port))
    #expect(PortConnection(port: port, patience: 10) == nil)
    #expect(!TCP.binds(to: port))
    try cluster.broker.setBrokerUp()
    #expect(TCP.connects(to: port))
    let producer = try cluster.producer()
    try producer.send(topic: "t", key: nil, value: [1])
    #expect(try producer.flush(timeout: patience))
  }

  @Test("nobody gets it while the broker goes down: an open connection keeps it")
  func keptByConnection() throws {
    let listener = try #require(TCP.listener())
    let answerer = Thread {
      // One connection is accepted, and the first bytes that come in on it go back. The buffer lives for the calls, which use as
      // many bytes as they are told.
      let accepted = accept(listener.descriptor, nil, nil)
      defer { close(accepted) }
      var bytes: [UInt8] = Array(repeating: 0, count: 64)
      let count = unsafe recv(accepted, &bytes, bytes.count, 0)
      _ = unsafe send(accepted, bytes, max(count, 0), 0)
      // Until the other side closes it.
      _ = unsafe recv(accepted, &bytes, bytes.count, 0)
    }
    answerer.start()
    let connection = try #require(PortConnection(port: listener.port, patience: 10))
    close(listener.descriptor)
    #expect(!TCP.binds(to: listener.port))
    // As the broker binds it.
    #expect(HeldPort(listener.port) != nil)
    withExtendedLifetime(connection) {}
  }
}

/// The calls that another program of this host could make with a port.
private enum TCP {
  static func connects(to port: UInt16) -> Bool {
    unsafe call(port) { socket, address, length in unsafe connect(socket, address, length) }
  }

  static func binds(to port: UInt16) -> Bool {
    unsafe call(port) { socket, address, length in unsafe bind(socket, address, length) }
  }

  /// Listens on a free port, with an address that may be used again, as the embedded broker does.
  static func listener() -> (descriptor: Int32, port: UInt16)? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var on: Int32 = 1
    var address = sockaddr_in.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // POSIX: the number and the address are lent for the calls, which use as many bytes as they are told.
    let isShared = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        guard unsafe bind(descriptor, pointer, length) == 0, listen(descriptor, 8) == 0 else { return false }
        return unsafe getsockname(descriptor, pointer, &length) == 0
      }
    }
    return isShared == 0 && isListening ? (descriptor, in_port_t(bigEndian: address.sin_port)) : nil
  }

  private static func call(
    _ port: UInt16, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in.loopback(port)
    // POSIX: the address is lent for the call, which reads as many bytes as it is told.
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe body(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
