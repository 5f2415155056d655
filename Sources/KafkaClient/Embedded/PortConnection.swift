import Glibc

/// A connection to a broker of 127.0.0.1 that the broker has accepted, so that its port stays taken while it listens anew.
///
/// To go down, the embedded broker closes the socket on which it listens and binds another to the same port; it ends the
/// process if anybody got the port in between. The system gives a port to nobody who asks for any free one as long as a
/// connection that was accepted on it is open, and lets the broker bind it again, because the broker asks for addresses that
/// may be used again. The broker closes its connections after it has bound the port.
final class PortConnection {
  private let descriptor: Int32

  /// Connects, and waits until the broker has answered: a connection that waits to be accepted would end with the socket.
  ///
  /// - Parameters:
  ///   - port: The port.
  ///   - seconds: The longest wait for the answer, at least 1.
  /// - Returns: nil if nobody listens or answers.
  init?(port: UInt16, patience seconds: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
    var wait = timeval(tv_sec: seconds, tv_usec: 0)
    // POSIX: the time and the address are lent for the calls, which read as many bytes as they are told.
    let isBounded = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in.loopback(port)
    let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard isBounded == 0, isConnected == 0, isAnswered() else { return nil }
  }

  /// Asks for the versions of requests, which every broker answers.
  private func isAnswered() -> Bool {
    // Kafka's protocol: 10 bytes follow; ApiVersions (18) of version 0, number 1, of a client without a name (length -1).
    let request: [UInt8] = [0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff]
    // POSIX: both buffers are lent for the calls, which use as many bytes as they are told. No signal if nobody reads.
    let sent = unsafe request.withUnsafeBytes { bytes in
      unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }
    var first: UInt8 = 0
    let received = unsafe recv(descriptor, &first, 1, 0)
    return sent == request.count && received == 1
  }

  deinit { close(descriptor) }
}

extension sockaddr_in {
  /// Returns the address of a port of 127.0.0.1.
  static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }
}
