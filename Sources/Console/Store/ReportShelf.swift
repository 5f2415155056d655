import Domain
import Synchronization

/// The reports of simulations that people have given to the console, in memory alone. May be used from any thread.
final class ReportShelf: Sendable {
  /// A report.
  struct ShelvedReport: Sendable {
    /// The name in the report's address, which follows from its content.
    var name: String
    /// The wall clock when it was given.
    var at: Timestamp
    /// The names of its policies.
    var policies: [String]
    /// The JSON text.
    var text: String
  }

  /// The most reports.
  /// - Beyond: the oldest is forgotten.
  static let reportsMax = 16
  /// The digits of a name.
  private static let nameDigits = 16

  private let reports = Mutex<[ShelvedReport]>([])

  /// The reports, the newest first.
  var all: [ShelvedReport] { reports.withLock { $0 } }

  /// Returns a report; nil if it is not known, or forgotten.
  subscript(_ name: String) -> ShelvedReport? { reports.withLock { reports in reports.first { $0.name == name } } }

  /// Keeps a report.
  ///
  /// - Parameters:
  ///   - text: The JSON text. A body of a request is bounded, and so is each report.
  ///   - policies: The names of its policies.
  ///   - now: The wall clock.
  /// - Returns: The name.
  func add(_ text: String, policies: [String], at now: Timestamp) -> String {
    let name = String(SHA256.hexDigest(of: Array(text.utf8)).prefix(Self.nameDigits))
    reports.withLock { reports in
      reports.removeAll { $0.name == name }
      reports.insert(ShelvedReport(name: name, at: now, policies: policies, text: text), at: 0)
      if reports.count > Self.reportsMax { reports.removeLast() }
    }
    return name
  }
}
