import LineFiles
import NIOCore
import NIOHTTP2
import NIOSSL

/// A certificate with its key, as they were read at one time.
struct TLSIdentity: Sendable {
  /// The certificate of the server.
  let leaf: NIOSSLCertificate
  /// The context of new connections: TLS 1.2 and 1.3, with HTTP/2 and HTTP/1.1.
  let context: NIOSSLContext
  /// The time from which on clients refuse the certificate, or one of its chain, in seconds since 1970.
  let ends: Int
  /// The time before the end in which operators are to be warned, in seconds.
  let noticeSeconds: Int

  /// The longest time before the end in which operators are warned: two weeks, in seconds.
  private static let noticeSecondsMax = 14 * 86_400
  /// The longest time for an orderly end of a TLS connection.
  private static let shutdownTime = TimeAmount.seconds(2)

  /// Reads the files.
  ///
  /// - Parameter paths: The paths.
  /// - Throws: `TLSCertificateError` if they cannot be read, or are no certificate and its key.
  init(_ paths: TLSCertificate.Paths) throws(TLSCertificateError) {
    let chain = try Self.chain(paths.certificate)
    let key = try Self.key(paths.key)
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = NIOHTTP2SupportedALPNProtocols
    configuration.shutdownTimeout = Self.shutdownTime
    do { context = try NIOSSLContext(configuration: configuration) } catch {
      // Both have been read by themselves, so that they do not fit is what is left.
      throw TLSCertificateError(
        "\(paths.key): the private key is not that of the first certificate in \(paths.certificate); name the two files that were made together"
      )
    }
    leaf = chain[0]
    ends = chain.map { Int($0.notValidAfter) }.min() ?? 0
    // A tenth of its life, so that certificates of a few days do not warn from the first day on.
    noticeSeconds = min(Self.noticeSecondsMax, max(0, Int(leaf.notValidAfter - leaf.notValidBefore) / 10))
  }

  private static func chain(_ path: String) throws(TLSCertificateError) -> [NIOSSLCertificate] {
    let bytes = try bytes(path)
    guard let chain = try? NIOSSLCertificate.fromPEMBytes(bytes), !chain.isEmpty else {
      throw TLSCertificateError(
        "\(path): no certificate in PEM; expected text that begins with -----BEGIN CERTIFICATE-----")
    }
    return chain
  }

  private static func key(_ path: String) throws(TLSCertificateError) -> NIOSSLPrivateKey {
    let bytes = try bytes(path)
    let text = String(decoding: bytes, as: UTF8.self)
    guard !text.contains("ENCRYPTED") else {
      throw TLSCertificateError(
        "\(path): the private key has a passphrase; remove it with openssl pkey -in FILE -out FILE, and protect the file by its permissions"
      )
    }
    guard text.contains("PRIVATE KEY-----"), let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem) else {
      throw TLSCertificateError(
        "\(path): no private key in PEM; expected text that begins with -----BEGIN PRIVATE KEY-----, or with RSA or EC before PRIVATE"
      )
    }
    return key
  }

  private static func bytes(_ path: String) throws(TLSCertificateError) -> [UInt8] {
    do throws(LineFileError) { return try WholeFile.bytes(path, bytesMax: TLSCertificate.fileBytesMax) } catch {
      throw TLSCertificateError("\(error)")
    }
  }
}
