import Domain
import Foundation
import HTTPTesting
import Logging
import Observing
import Synchronization

@testable import Keys

/// The keys of an issuer in a file, and a verifier of its tokens.
final class Issued: Sendable {
  static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  /// The wall clock of the tests, and its seconds.
  static let now = Timestamp(microseconds: seconds * 1_000_000)
  static let seconds: Int64 = 1_700_000_000

  let registry = MetricRegistry()
  let keys: IssuerKeys
  let verifier: TokenVerifier
  private let folder: URL

  /// Makes a verifier.
  ///
  /// - Parameters:
  ///   - keySet: The content of the key file.
  ///   - grants: The content of the file of grants; nil for none.
  ///   - change: Changes the settings.
  init(_ keySet: String, grants: String? = nil, _ change: (inout TokenSettings) -> Void = { _ in }) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "issuer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var settings = TokenSettings(issuer: TestIssuer.name, audience: TestIssuer.audience)
    change(&settings)
    let metrics = TokenMetrics(registry)
    let path = folder.appending(path: "keys.json").path
    try Data(keySet.utf8).write(to: URL(filePath: path))
    let grantsPath = folder.appending(path: "grants.json").path
    if let grants { try Data(grants.utf8).write(to: URL(filePath: grantsPath)) }
    keys = IssuerKeys(.file(path), metrics: metrics, logger: Self.silent)
    verifier = try TokenVerifier(
      settings, keys: keys, grantsPath: grants == nil ? nil : grantsPath, metrics: metrics, logger: Self.silent)
    refresh()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Replaces a file, `keys` or `grants`, and has it read.
  func put(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: folder.appending(path: "\(name).json"), options: .atomic)
    refresh()
  }

  func refresh() { verifier.refresh(at: .now, wallClock: Self.now) }

  /// The claims of a token that expires in an hour.
  static func claims(_ subject: String = "anna", roles: [String] = ["auditor"], more: String = "") -> String {
    TestIssuer.claims(subject, roles: roles, expires: Int(seconds) + 3600, more: more)
  }

  /// The check that a token fails; nil if it is accepted.
  func refusal(_ token: String, at now: Timestamp = now) -> TokenRefusal? {
    do throws(TokenRefusal) {
      _ = try verifier.verify(token, at: now)
      return nil
    } catch { return error }
  }
}
