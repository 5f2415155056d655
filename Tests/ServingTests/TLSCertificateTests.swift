import Foundation
import HTTPTesting
import InMemoryLogging
import Logging
import Synchronization
import Testing

@testable import Serving

/// A clock that a test sets.
private final class TestClock: Sendable {
  private let seconds = Mutex(HTTPDateClock.systemSecond())

  var now: @Sendable () -> Int { { self.seconds.withLock { $0 } } }

  func advance(days: Int) { seconds.withLock { $0 += days * 86_400 } }
}

@Suite("Certificates of servers") struct TLSCertificateTests {
  private let log = InMemoryLogHandler()

  private var logger: Logger { Logger(label: "test") { _ in log } }

  /// The warnings so far, which are then forgotten.
  private func warnings() -> [String] {
    let words = log.entries.filter { $0.level == .warning }.map { "\($0.message)" }
    log.clear()
    return words
  }

  private func refusal(_ paths: TLSCertificate.Paths) -> String {
    do {
      _ = try TLSCertificate(paths, logger: logger)
      return "none"
    } catch {
      return "\(error)"
    }
  }

  @Test("files that cannot be used are refused with the path, the reason and what to do")
  func refused() throws {
    let made = try TestCertificate()
    defer { made.remove() }
    try made.make("other")
    let good = made.paths
    #expect(refusal(good) == "none")
    #expect(refusal(.init(certificate: made.path("none.crt"), key: good.key)).contains("none.crt: no such file"))
    let keyless = refusal(.init(certificate: good.certificate, key: made.path("none.key")))
    #expect(keyless.contains("none.key: no such file"), "\(keyless)")
    #expect(refusal(.init(certificate: made.folder.path, key: good.key)).contains(made.folder.path))
    #expect(refusal(.init(certificate: good.key, key: good.key)).contains("tls.key: no certificate in PEM"))
    #expect(
      refusal(.init(certificate: good.certificate, key: good.certificate)).contains("tls.crt: no private key in PEM"))
    let other = refusal(.init(certificate: good.certificate, key: made.path("other.key")))
    #expect(other.contains("other.key: the private key is not that of the first certificate in "), "\(other)")
    let encrypted = try Tool.run(
      "openssl", ["pkey", "-in", good.key, "-aes256", "-passout", "pass:x", "-out", made.path("encrypted.key")])
    #expect(encrypted.status == 0)
    let passphrase = refusal(.init(certificate: good.certificate, key: made.path("encrypted.key")))
    #expect(passphrase.contains("the private key has a passphrase"), "\(passphrase)")
    try Data(count: TLSCertificate.fileBytesMax + 1).write(to: made.folder.appending(path: "large"))
    #expect(refusal(.init(certificate: made.path("large"), key: good.key)).contains("large"))
  }

  @Test("the log says that a certificate ends soon, or has ended, once a day")
  func ending() throws {
    let made = try TestCertificate()
    defer { made.remove() }
    let clock = TestClock()
    let certificate = try TLSCertificate(made.paths, logger: logger, now: clock.now)
    #expect(warnings() == [] && certificate.secondsLeft > 89 * 86_400)
    clock.advance(days: 80)
    certificate.refresh()
    #expect(warnings() == [])
    clock.advance(days: 2)
    for _ in 0..<3 { certificate.refresh() }
    #expect(warnings() == ["the certificate expires soon; renew the file, which needs no restart"])
    clock.advance(days: 1)
    certificate.refresh()
    #expect(warnings().count == 1)
    clock.advance(days: 8)
    certificate.refresh()
    #expect(warnings() == ["the certificate has expired, so clients refuse the connection; renew the file"])
    #expect(certificate.secondsLeft < 0)
    _ = try TLSCertificate(made.paths, logger: logger, now: clock.now)
    #expect(warnings().count == 1, "a start says so as well, and serves: a renewal needs no restart")
  }

  @Test("a renewal of two files, one after the other, is no failure, and one that stays wrong is told once")
  func renewed() throws {
    let made = try TestCertificate()
    defer { made.remove() }
    let certificate = try TLSCertificate(made.paths, logger: logger)
    let first = certificate.context
    certificate.refresh()
    #expect(certificate.context === first, "files that have not changed are not read")
    try made.make("new", days: 30)
    try made.replace("tls.crt", by: "new.crt")
    certificate.refresh()
    #expect(certificate.context === first && warnings() == [])
    try made.replace("tls.key", by: "new.key")
    certificate.refresh()
    #expect(certificate.context !== first && certificate.secondsLeft < 31 * 86_400)
    #expect(log.entries.map(\.level) == [.info])
    let second = certificate.context
    try made.make("wrong")
    try made.replace("tls.key", by: "wrong.key")
    for _ in 0..<4 { certificate.refresh() }
    #expect(certificate.context === second)
    #expect(
      warnings() == ["the certificate or its key has changed and cannot be used; the one from before stays in force"])
    try made.replace("tls.crt", by: "wrong.crt")
    certificate.refresh()
    #expect(certificate.context !== second && warnings() == [])
  }

  @Test("a key that every user of the host can read is told")
  func openKey() throws {
    let made = try TestCertificate()
    defer { made.remove() }
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: made.paths.key)
    _ = try TLSCertificate(made.paths, logger: logger)
    #expect(warnings() == ["every user of this host can read the private key; chmod 600 keeps them out"])
  }
}
