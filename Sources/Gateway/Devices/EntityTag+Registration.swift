import Domain
import Serving

extension EntityTag {
  /// The hexadecimal digits of SHA-256 that a tag has.
  private static let digits = 32

  /// Makes the tag of a registration.
  ///
  /// - Parameter value: The registration, as it was written.
  init(_ value: [UInt8]) { self.init(SHA256.hexDigest(of: value).prefix(Self.digits)) }
}
