import Foundation
import KafkaClient
import Testing

@Suite("The port of an embedded broker") struct EmbeddedPortTests {
  @Test("nobody else gets it while the broker is down, and connections to it are refused")
  func held() throws {
    let cluster = try EmbeddedCluster(topics: ["t": 1])
    let port = try #require(cluster.broker.bootstrapServers.split(separator: ":").last.flatMap { UInt16($0) })
    #expect(TCP.connects(to: port))
    try cluster.broker.setBrokerDown()
    try cluster.broker.setBrokerDown()
    #expect(!TCP.connects(to: port))
    #expect(!TCP.binds(to: port))
    try cluster.broker.setBrokerUp()
    #expect(TCP.connects(to: port))
    let producer = try cluster.producer()
    try producer.send(topic: "t", key: nil, value: [1])
    #expect(try producer.flush(timeout: patience))
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

  private static func call(
    _ port: UInt16, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    // POSIX: the address is lent for the call, which reads as many bytes as it is told.
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe body(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
