import Foundation
import Testing
import Verification

extension FireRange {
  /// Waits until every event is decided, ends the processes, and recomputes the books from everything that was written.
  ///
  /// - Parameter drain: The longest wait for the decisions, in seconds.
  /// - Returns: The books.
  /// - Throws: Errors of the broker.
  @discardableResult
  func conclude(drain: Double = 60) throws -> LedgerReport {
    let drained = try self.drained(timeout: drain)
    let story = { self.log.joined(separator: "\n") + "\n" + self.complaints.suffix(40).joined(separator: "\n") }
    if !drained {
      let missing = try self.missing()
      Issue.record(
        "seed \(options.seed): \(missing.count) not decided, such as \(missing.sorted().prefix(5)); \(fallen)\n\(story())"
      )
    }
    let disorder = endAll()
    #expect(disorder.isEmpty, "seed \(options.seed)\n\(story())")
    let report = try verify()
    #expect(report.violationCount == 0, "seed \(options.seed)\n\(report.text)\n\(story())")
    #expect(report.commands > 0, "seed \(options.seed)\n\(report.text)")
    // The embedded broker shows what aborted transactions wrote; a zombie's records would look the same.
    if broker == nil {
      #expect(report.repeatedDecisions == 0 && report.repeatedCommands == 0, "seed \(options.seed)\n\(report.text)")
    }
    #expect(!drained || report.open == 0, "seed \(options.seed)\n\(report.text)")
    print(
      "fire, seed \(options.seed): \(kills) kills, \(published) events, \(report.decisions) decisions, \(report.commands) commands, "
        + "\(report.repeatedDecisions) repeated, \(report.violationCount) violations")
    if ProcessInfo.processInfo.environment["ROUSE_FIRE_STORY"] != nil { print(story()) }
    return report
  }
}
