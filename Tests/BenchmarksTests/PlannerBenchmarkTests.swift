import Policies
import Testing

@testable import Benchmarks

@Suite("The planner benchmark")
struct PlannerBenchmarkTests {
  private func run(seed: UInt64) throws -> PlannerBenchmark.Result {
    let policy = try PolicyDocument(yaml: PlannerBenchmark.policyDocument, file: "policy").policy
    let benchmark = PlannerBenchmark(
      devices: 100, instancesPerDevice: 3, fanOut: 10, decisionsMin: 3000, seed: seed)
    var ticks = 0.0
    return benchmark.run(
      policy: policy,
      clock: {
        ticks += 1
        return ticks
      }, memory: { 0 })
  }

  @Test("the same seed gives the same decisions")
  func deterministic() throws {
    let (first, second) = (try run(seed: 1), try run(seed: 1))
    #expect(first.decisions == second.decisions)
    #expect(first.commands == second.commands)
    #expect(first.reasons.map(\.reason) == second.reasons.map(\.reason))
    #expect(first.reasons.map(\.count) == second.reasons.map(\.count))
    #expect(!first.reasons.isEmpty)
  }

  @Test("the benchmark ends after the requested number of decisions, and counts time by the given clock")
  func counts() throws {
    let result = try run(seed: 1)
    #expect((3000..<3020).contains(result.decisions))
    #expect(result.instances == 300)
    #expect(result.registrationSeconds == 1)
    #expect(result.seconds == 1)
    #expect(result.decisionsPerSecond == Double(result.decisions))
    #expect(result.stateBytesPerDevice == 0)
    #expect(result.tableBytesPerDevice > 0)
    #expect(result.commands > 0)
  }
}
