import Glibc
import NIOCore

/// The reason why nothing can listen on an address.
public struct HTTPListenerError: Error, Sendable, CustomStringConvertible {
  /// The address.
  public let address: HTTPAddress
  /// Whether another program listens on the address.
  public let isTaken: Bool
  private let cause: String

  /// Makes the error from that of the system.
  init(_ address: HTTPAddress, _ error: any Error) {
    self.address = address
    let code = (error as? IOError)?.errnoCode
    isTaken = code == EADDRINUSE
    cause =
      switch code {
      case EADDRINUSE: "another program listens there"
      case EACCES: "the system allows ports below 1024 to root only"
      case EADDRNOTAVAIL: "no network interface of this host has that address"
      case nil, .some: "\(error)"
      }
  }

  /// One lower-case sentence for an operator, without advice.
  public var description: String { "cannot listen on \(address.text): \(cause)" }
}
