import Domain
import Foundation
import Logging
import Synchronization

/// The reports of simulations that people have given to the console: in memory, and as files of a folder beside the audit store, so that the
/// address of a report outlives the console. May be used from any thread.
///
///     add ──► memory and folder/<name>.json ──► the oldest beyond `reportsMax` leaves both
///     start ──► the files of the folder whose name fits their content
///
/// A folder that cannot be written costs only the outliving: the log says so, and the report stays in memory.
final class ReportStore: Sendable {
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
  private static let fileType = "json"

  private let folder: URL
  private let bytesMax: Int
  private let logger: Logger
  private let reports: Mutex<[ShelvedReport]>

  /// Returns the folder for the reports of a console.
  ///
  /// - Parameter store: The path of the audit store.
  static func path(besides store: String) -> String { store + ".reports" }

  /// Takes the reports of a folder. The folder is made with the first report.
  ///
  /// - Parameters:
  ///   - path: The path of the folder.
  ///   - bytesMax: The largest report, in bytes. Larger files are no reports.
  ///   - logger: Gets failures.
  init(path: String, bytesMax: Int, logger: Logger) {
    folder = URL(fileURLWithPath: path, isDirectory: true)
    self.bytesMax = bytesMax
    self.logger = logger
    reports = Mutex([])
    let kept = Array(files().compactMap(read).sorted { $0.at > $1.at }.prefix(Self.reportsMax))
    reports.withLock { $0 = kept }
  }

  /// The reports, the newest first.
  var all: [ShelvedReport] { reports.withLock { $0 } }

  /// Returns a report; nil if it is not known, or forgotten. One that another console of the same store has kept is found in the folder.
  subscript(_ name: String) -> ShelvedReport? {
    if let known = reports.withLock({ reports in reports.first { $0.name == name } }) { return known }
    return Self.isName(name) ? read(file(name)) : nil
  }

  /// Keeps a report.
  ///
  /// - Parameters:
  ///   - text: The JSON text. A body of a request is bounded, and so is each report.
  ///   - policies: The names of its policies.
  ///   - now: The wall clock.
  /// - Returns: The name.
  func add(_ text: String, policies: [String], at now: Timestamp) -> String {
    let report = ShelvedReport(name: Self.name(of: text), at: now, policies: policies, text: text)
    reports.withLock { reports in
      reports.removeAll { $0.name == report.name }
      reports.insert(report, at: 0)
      if reports.count > Self.reportsMax { reports.removeLast() }
    }
    do {
      try write(report)
      try removeOldFiles()
    } catch {
      logger.warning(
        "the folder of the reports cannot be changed, so they may be gone when the console ends",
        metadata: ["folder": "\(folder.path)", "error": "\(error)"])
    }
    return report.name
  }

  // MARK: Files

  private static func name(of text: String) -> String {
    String(SHA256.hexDigest(of: Array(text.utf8)).prefix(nameDigits))
  }

  private static func isName(_ text: String) -> Bool { text.count == nameDigits && text.allSatisfy(\.isHexDigit) }

  private func file(_ name: String) -> URL { folder.appending(path: "\(name).\(Self.fileType)") }

  private func write(_ report: ShelvedReport) throws {
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let path = file(report.name).path
    // The name follows from the content, so half a file is no report when it is read.
    guard
      FileManager.default.createFile(
        atPath: path, contents: Data(report.text.utf8), attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
    let given = Date(timeIntervalSince1970: Double(report.at.microseconds) / 1_000_000)
    try FileManager.default.setAttributes([.modificationDate: given], ofItemAtPath: path)
  }

  /// Removes the oldest files, also those that another console of the same store has made.
  private func removeOldFiles() throws {
    let manager = FileManager.default
    // Two files may have one time. Those that this console has are the newer ones then.
    let known = Set(all.map { file($0.name).lastPathComponent })
    let dated = files().map { file in
      (file: file, age: (-modified(file).timeIntervalSince1970, known.contains(file.lastPathComponent) ? 0 : 1))
    }
    for (file, _) in dated.sorted(by: { $0.age < $1.age }).dropFirst(Self.reportsMax) {
      do { try manager.removeItem(at: file) } catch CocoaError.fileNoSuchFile {
        logger.debug("the file of an old report was gone already", metadata: ["file": "\(file.path)"])
      }
    }
  }

  /// Returns the time at which the report of a file was given; long ago if another console has removed the file meanwhile.
  private func modified(_ file: URL) -> Date {
    do {
      return try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date ?? .distantPast
    } catch {
      logger.debug("the file of a report cannot be looked at", metadata: ["file": "\(file.path)", "error": "\(error)"])
      return .distantPast
    }
  }

  /// Returns the files that may be reports.
  private func files() -> [URL] {
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        .filter { $0.pathExtension == Self.fileType && Self.isName($0.deletingPathExtension().lastPathComponent) }
    } catch {
      logger.warning(
        "the reports of simulations cannot be read", metadata: ["folder": "\(folder.path)", "error": "\(error)"])
      return []
    }
  }

  /// Reads a file; nil if it is none, or no report that the console has written.
  private func read(_ file: URL) -> ShelvedReport? {
    let manager = FileManager.default
    guard manager.fileExists(atPath: file.path) else { return nil }
    do {
      let about = try manager.attributesOfItem(atPath: file.path)
      guard let size = about[.size] as? Int, size <= bytesMax, let at = about[.modificationDate] as? Date else {
        return nil
      }
      let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
      let name = Self.name(of: text)
      guard file.deletingPathExtension().lastPathComponent == name else { return nil }
      let report = try SimulationReport(parsing: text)
      let given = Timestamp(microseconds: Int64((at.timeIntervalSince1970 * 1_000_000).rounded()))
      return ShelvedReport(name: name, at: given, policies: report.policyNames, text: text)
    } catch {
      logger.warning(
        "the file of a report cannot be read", metadata: ["file": "\(file.path)", "error": "\(error)"])
      return nil
    }
  }
}
