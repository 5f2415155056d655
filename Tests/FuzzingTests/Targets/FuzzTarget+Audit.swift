import Auditing
import Domain
import Foundation
import Verification

extension FuzzTarget {
  /// Readers of decisions and commands, and of the audit store.
  static let auditTargets = [verify, audit, auditFile]

  /// Lines of decisions and commands, checked as `rouse verify` does.
  private static let verify = FuzzTarget(
    name: "verify", form: .text, cases: 1500, seeds: { try lines() },
    body: { input in
      var check = LedgerCheck(refundsAllowed: true, memoryMax: 1 << 20)
      for line in input.split(separator: UInt8(ascii: "\n")) {
        if isCommand(line) {
          check.add(command: Array(line), place: "commands")
        } else {
          check.add(decision: Array(line), place: "decisions")
        }
      }
      _ = try check.finish()
    })

  /// The same lines in an audit store, and every question about them.
  private static let audit = FuzzTarget(
    name: "audit", form: .text, cases: 150, seeds: { try lines() },
    body: { input in
      let store = try AuditStore.open(path: ":memory:")
      let batch = batch(input)
      do throws(AuditError) { try store.store(batch) } catch { return }
      for decision in batch.decisions.prefix(2).map(\.decision) {
        try ask(store, device: decision.device, event: decision.event)
        let kept = try store.device(decision.device, limit: 1000).entries
        try FuzzFinding.unless(!kept.isEmpty, "\(decision.decision) was stored and is not found by its device")
      }
    })

  /// The bytes of a store's file.
  private static let auditFile = FuzzTarget(
    name: "audit-file", form: .bytes, cases: 200,
    seeds: {
      let path = FileManager.default.temporaryDirectory.appending(path: "seed-\(UUID().uuidString).sqlite")
      defer { try? FileManager.default.removeItem(at: path) }
      let store = try AuditStore.open(path: path.path)
      try store.store(batch(lines()[0]))
      try store.close()
      return [[UInt8](try Data(contentsOf: path))]
    },
    body: { input in
      let path = FuzzPlace.folder.appending(path: "audit-file.sqlite")
      for ending in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: path.path + ending) {
        try FileManager.default.removeItem(atPath: path.path + ending)
      }
      try Data(input).write(to: path)
      do throws(AuditError) {
        let store = try AuditStore.open(path: path.path)
        try ask(store, device: "d1", event: "e1")
        try store.store(AuditBatch())
        try store.close()
      } catch { return }
    })

  private static func isCommand(_ line: ArraySlice<UInt8>) -> Bool {
    line.firstRange(of: Array("\"apns\"".utf8)) != nil
  }

  private static func batch(_ input: [UInt8]) -> AuditBatch {
    var batch = AuditBatch()
    for line in input.split(separator: UInt8(ascii: "\n")) {
      do throws(DomainError) {
        if isCommand(line) {
          batch.append(try Command(json: Array(line)))
        } else {
          batch.append(try Decision(json: Array(line)))
        }
      } catch { continue }
    }
    return batch
  }

  /// Asks every question.
  private static func ask(_ store: AuditStore, device: Identifier, event: Identifier) throws(AuditError) {
    _ = try store.summary()
    _ = try store.positions()
    _ = try store.device(device)
    _ = try store.event(event)
    _ = try store.why(WhyQuestion(device: device, event: event))
    _ = try store.why(WhyQuestion(device: device))
    _ = try store.statement(device)
    _ = try store.zombies()
    _ = try store.top(by: .reason)
  }

  /// The decisions and commands of the story, and the examples.
  private static func lines() throws -> [[UInt8]] {
    var pipeline = try FuzzPipeline()
    for (index, record) in try FuzzTraffic.logRecords().enumerated() {
      try pipeline.plan(record, at: FuzzPipeline.noon + Int64(index) * 60_000_000)
    }
    let examples = try (FuzzExamples.files("decision/valid") + FuzzExamples.files("command/valid")).map { example in
      example.filter { $0 != UInt8(ascii: "\n") }
    }
    let all = pipeline.lines + examples
    return [all, Array(all.prefix(4)), Array(all.suffix(6))].map { Array($0.joined(separator: [UInt8(ascii: "\n")])) }
  }
}
