import Foundation
import Pipeline
import Storing
import Testing

@testable import rouse

@Suite("The place of the audit store") struct AuditPlaceTests {
  @Test("a store that was overwritten while it was open is not opened again until it has been moved away")
  func overwritten() throws {
    let folder = try Workplace()
    let path = folder.path("audit.sqlite")
    let audit = AuditSettings(try Settings(assignments: ["audit.store=\(path)"], environment: [:], file: nil))
    let place = AuditPlace(path: path)
    var now = ContinuousClock.now
    do {
      let sink = try AuditSink(path: path, retention: audit.retention) { now }
      try sink.store([], positions: [])
      try Data("something else".utf8).write(to: URL(filePath: path))
      now += .seconds(30)
      let failure = #expect(throws: PipelineError.self) {
        try place.use(sink) { () throws(PipelineError) in
          do { try sink.store([], positions: []) } catch { throw .store("\(error)") }
        }
      }
      #expect("\(failure.map { "\($0)" } ?? "")".contains("was overwritten while it was in use"))
    }
    let refusal = #expect(throws: PipelineError.self) { _ = try place.open(retention: audit.retention) }
    #expect("\(refusal.map { "\($0)" } ?? "")".contains("move it away, together with its -wal and -shm"))
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.folder.path) where !file.hasSuffix(".key") {
      try FileManager.default.removeItem(atPath: folder.path(file))
    }
    let sink = try place.open(retention: audit.retention)
    #expect(try sink.positions() == [])
    try sink.idle()
  }
}
