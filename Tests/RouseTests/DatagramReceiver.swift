import Foundation
import Glibc

/// The service manager's end of a notify socket.
final class DatagramReceiver {
  /// The address, as `NOTIFY_SOCKET` has it.
  let address: String
  private let descriptor: Int32

  struct Refused: Error { var code: Int32 }

  /// Listens at an address: a path, or `@` and a name.
  init(_ address: String) throws {
    self.address = address
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var target = sockaddr_un()
    target.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(address.utf8)
    if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
    unsafe withUnsafeMutableBytes(of: &target.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let code = unsafe withUnsafeMutablePointer(to: &target) { target in
      unsafe target.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
    }
    guard code == 0 else { throw Refused(code: errno) }
  }

  deinit { _ = close(descriptor) }

  /// Returns the lines of the next datagram; nil if none comes within some seconds.
  func next(within seconds: Int = 180) -> [String]? {
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&poller, 1, Int32(seconds * 1000)) == 1 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
    guard count >= 0 else { return nil }
    return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Returns the lines of all datagrams up to the first one with this line; nil if it does not come.
  func lines(until line: String) -> [String]? {
    var lines: [String] = []
    while !lines.contains(line) {
      guard let more = next() else { return nil }
      lines += more
    }
    return lines
  }
}
