import Glibc

/// A TCP port of 127.0.0.1 that nobody else gets, and on which nobody listens: connections to it are refused.
///
/// The embedded broker gives up the port of a broker that is down, and ends the process if the port is taken when the broker comes back. A
/// broker can listen on a held port, because both ask for addresses that may be used again.
final class HeldPort {
  private let descriptor: Int32

  /// Takes a port.
  ///
  /// - Parameter number: The port.
  /// - Returns: nil if it cannot be had.
  init?(_ number: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var on: Int32 = 1
    var address = sockaddr_in.loopback(number)
    // POSIX: the number and the address are lent for the calls, which read as many bytes as they are told.
    let isShared = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    let isBound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard isShared == 0, isBound == 0 else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }
}
