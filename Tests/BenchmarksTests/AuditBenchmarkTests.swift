import Auditing
import Foundation
import Testing

@testable import Benchmarks

@Suite("The audit benchmark")
struct AuditBenchmarkTests {
  @Test("the benchmark stores the requested number of decisions, and times only the reading and the storing")
  func run() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("audit.sqlite").path
    var ticks = 0.0
    let result = try AuditBenchmark.run(decisions: 40_000, devices: 50, path: path) {
      ticks += 1
      return ticks
    }
    #expect(result.decisions == 40_000)
    #expect(result.seconds == 2, "two batches of at most 30,000, one tick each")
    #expect(result.decisionsPerSecond == 20_000 && result.processorPerMillion > 0)
    // One decision in 20 is emitted.
    #expect((1_800...2_200).contains(result.commands), "\(result.commands) commands")
    #expect(result.bytesPerDecision > 10)
    let summary = try AuditStore.open(path: path, options: AuditOptions(access: .read)).summary()
    #expect(summary.decisions == 40_000)
    #expect(summary.events == 800, "an event reaches 50 widgets")
  }
}
