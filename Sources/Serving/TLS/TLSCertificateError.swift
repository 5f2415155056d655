/// The reason why a certificate or its private key cannot be used.
public struct TLSCertificateError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reason in lower case, with the path, and what to do. It has no byte of a file.
  public let description: String

  init(_ words: String) { description = words }
}
