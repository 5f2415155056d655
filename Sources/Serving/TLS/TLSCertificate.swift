import LineFiles
public import Logging
import NIOSSL
import Synchronization

/// The certificate of a server and its private key. They follow their files: a certificate that was renewed on disk is used for the next
/// connection, and those that are open stay as they are. May be used from any thread.
///
///     in force ──files changed──► looked at ──usable──► in force
///                                    └──not usable──► looked at again; the one from before stays in force
///
/// Two files cannot be replaced at once. So a pair that does not fit is looked at a second time before the log has it.
public final class TLSCertificate: Sendable {
  /// The paths of the files in PEM.
  public struct Paths: Sendable, Equatable {
    /// The certificate of the server, followed by those of the authorities between it and the root.
    public var certificate: String
    /// The private key, without a passphrase.
    public var key: String

    /// Names the files.
    ///
    /// - Parameters:
    ///   - certificate: The certificate, followed by those of the authorities between it and the root.
    ///   - key: The private key, without a passphrase.
    public init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  private struct Marks: Equatable {
    var certificate: FileMark
    var key: FileMark
  }

  private struct InForce {
    var identity: TLSIdentity
    /// The marks of the files that were looked at last.
    var marks: Marks
    /// Whether these files could not be used, and how often they were looked at.
    var failures = 0
    /// The time from which on the next warning of an early end is due, in seconds since 1970.
    var nextWarning = 0
  }

  /// The largest size of a certificate file, and of a key file, in bytes.
  /// - Beyond: the file is refused.
  public static let fileBytesMax = 1 << 20
  /// The time between two warnings that the certificate ends soon, in seconds.
  private static let warningInterval = 86_400

  /// The paths of the files.
  public let paths: Paths
  private let logger: Logger
  private let now: @Sendable () -> Int
  private let state: Mutex<InForce>

  /// Reads the files.
  ///
  /// - Parameters:
  ///   - paths: The paths.
  ///   - logger: Gets renewals, and the warning that the certificate ends soon.
  /// - Throws: `TLSCertificateError` if the files cannot be read, or are no certificate and its key.
  public convenience init(_ paths: Paths, logger: Logger) throws(TLSCertificateError) {
    try self.init(paths, logger: logger, now: HTTPDateClock.systemSecond)
  }

  /// Reads the files, with a clock.
  ///
  /// - Parameters:
  ///   - paths: The paths.
  ///   - logger: Gets renewals, and the warning that the certificate ends soon.
  ///   - now: Returns the seconds since 1970.
  init(_ paths: Paths, logger: Logger, now: @escaping @Sendable () -> Int) throws(TLSCertificateError) {
    self.paths = paths
    self.logger = logger
    self.now = now
    let marks = Self.marks(paths)
    state = Mutex(InForce(identity: try TLSIdentity(paths), marks: marks))
    warnOfOpenKey()
    warnOfEnd()
  }

  /// The time from which on clients refuse the certificate, in seconds since 1970.
  public var expires: Int { state.withLock { $0.identity.ends } }

  /// The time for which clients still accept the certificate, in seconds; negative if it is over.
  public var secondsLeft: Int { expires - now() }

  /// The context for the next connection.
  var context: NIOSSLContext { state.withLock { $0.identity.context } }

  /// Reads the files again if they have changed, and warns once a day if the certificate ends soon. Files that cannot be used leave the
  /// certificate as it is.
  ///
  /// It reads the disk, so it must not be called on an event loop.
  public func refresh() {
    let marks = Self.marks(paths)
    let (before, failures) = state.withLock { ($0.marks, $0.failures) }
    if marks != before || failures == 1 { replace(marks, failures: marks == before ? failures : 0) }
    warnOfEnd()
  }

  private func replace(_ marks: Marks, failures: Int) {
    do throws(TLSCertificateError) {
      let identity = try TLSIdentity(paths)
      let isNew = state.withLock { state in
        let isNew = state.identity.leaf != identity.leaf || failures > 0
        state = InForce(identity: identity, marks: marks)
        return isNew
      }
      warnOfOpenKey()
      guard isNew else { return }
      logger.info(
        "the certificate has changed, and the next connections get the new one",
        metadata: ["file": "\(paths.certificate)", "daysLeft": "\(secondsLeft / 86_400)"])
    } catch {
      state.withLock { state in
        state.marks = marks
        state.failures = failures + 1
      }
      guard failures == 1 else { return }
      logger.warning(
        "the certificate or its key has changed and cannot be used; the one from before stays in force",
        metadata: ["error": "\(error)"])
    }
  }

  private func warnOfEnd() {
    let second = now()
    let identity: TLSIdentity? = state.withLock { state in
      guard second >= state.nextWarning, second >= state.identity.ends - state.identity.noticeSeconds else {
        return nil
      }
      state.nextWarning = second + Self.warningInterval
      return state.identity
    }
    guard let identity else { return }
    let left = identity.ends - second
    let metadata: Logger.Metadata = ["file": "\(paths.certificate)"]
    if left <= 0 {
      logger.warning(
        "the certificate has expired, so clients refuse the connection; renew the file", metadata: metadata)
    } else {
      logger.warning(
        "the certificate expires soon; renew the file, which needs no restart",
        metadata: metadata.merging(["hoursLeft": "\(left / 3600)"]) { $1 })
    }
  }

  private func warnOfOpenKey() {
    guard FileMark(paths.key).isOpenToAll else { return }
    logger.warning(
      "every user of this host can read the private key; chmod 600 keeps them out", metadata: ["file": "\(paths.key)"])
  }

  private static func marks(_ paths: Paths) -> Marks {
    Marks(certificate: FileMark(paths.certificate), key: FileMark(paths.key))
  }
}

/// The reason why a certificate or its private key cannot be used.
public struct TLSCertificateError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reason in lower case, with the path, and what to do. It has no byte of a file.
  public let description: String

  init(_ words: String) { description = words }
}
