import Glibc

/// Sends datagrams to a service manager such as systemd, by the protocol of `sd_notify(3)`.
///
/// Each datagram is a list of lines `NAME=value`. The manager never answers. May be used from any thread.
final class NotifySocket: Sendable {
  /// A failure, with the address and the reason.
  struct Refusal: Error, CustomStringConvertible {
    let description: String
  }

  private let address: String
  private let descriptor: Int32

  /// The room for the path of a socket, in bytes: `sun_path` of `unix(7)` has 108, the last of which is a NUL.
  static let pathRoom = 107

  /// Makes a socket that sends to an address.
  ///
  /// - Parameter address: The value of `NOTIFY_SOCKET`: a path, or a name in the abstract namespace after `@`.
  /// - Throws: `Refusal` if the address is neither, or no socket can be had.
  init(address: String) throws(Refusal) {
    guard address.hasPrefix("/") || address.hasPrefix("@"), address.utf8.count > 1 else {
      throw Refusal(description: "\(address): expected a path, or @ and the name of an abstract socket")
    }
    guard address.utf8.count <= Self.pathRoom else {
      throw Refusal(description: "\(address): longer than \(Self.pathRoom) bytes")
    }
    self.address = address
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Refusal(description: "no socket can be had: \(Self.reason)") }
  }

  deinit { _ = close(descriptor) }

  /// Sends one datagram. It waits while the manager's queue is full.
  ///
  /// - Parameter lines: The lines of the datagram, each `NAME=value`.
  /// - Throws: `Refusal` if nothing listens at the address, or the system refuses to send.
  func send(_ lines: [String]) throws(Refusal) {
    let bytes = Array(lines.joined(separator: "\n").utf8)
    var target = Self.socketAddress(of: address)
    // unix(7): the length tells how much of `sun_path` counts, because an abstract name may contain NUL and ends with none.
    let length = socklen_t(MemoryLayout<sa_family_t>.size + address.utf8.count)
    // POSIX: both pointers are lent for the call, which reads `bytes.count` bytes and `length` bytes of the address.
    let sent = unsafe withUnsafeMutablePointer(to: &target) { target in
      unsafe target.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
        unsafe bytes.withUnsafeBytes { bytes in
          unsafe sendto(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL), target, length)
        }
      }
    }
    guard sent == bytes.count else { throw Refusal(description: "\(address): \(Self.reason)") }
  }

  /// Returns the address as the system takes it. The `@` of an abstract name becomes NUL.
  private static func socketAddress(of address: String) -> sockaddr_un {
    var target = sockaddr_un()
    target.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(address.utf8.prefix(pathRoom))
    if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
    // The bytes fit: there are fewer than `sun_path` has room for.
    unsafe withUnsafeMutableBytes(of: &target.sun_path) { unsafe $0.copyBytes(from: bytes) }
    return target
  }

  /// The reason why the last call of the system failed.
  private static var reason: String { unsafe String(cString: strerror(errno)) }
}
