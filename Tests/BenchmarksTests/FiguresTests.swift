import Testing

@testable import Benchmarks

@Suite("Figures of the benchmarks")
struct FiguresTests {
  @Test(
    "the median is the middle value, or the mean of the two middle values",
    arguments: [([], nil), ([4], 4), ([9, 1, 5], 5), ([8, 2, 4, 1], 3)] as [([Double], Double?)])
  func median(_ values: [Double], _ expected: Double?) {
    #expect(values.median == expected)
  }

  /// The places are those of tables of the sign test.
  @Test(
    "the interval of a median is that of the sign test",
    arguments: [(5, nil), (6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (30, 10), (100, 40)] as [(Int, Int?)])
  func medianInterval(count: Int, place: Int?) {
    let values = (1...count).map(Double.init).shuffled()
    #expect(values.medianInterval == place.map { Double($0)...Double(count + 1 - $0) })
  }

  private func round(_ mode: PipelineBenchmarkMode, decisions: Int, wall: Double) -> PipelineRound {
    PipelineRound(mode: mode, wallSeconds: wall, processorSeconds: wall / 2, decisions: decisions, outputRecords: 0)
  }

  @Test("a ratio compares the modes of the same round and takes the median of the rounds")
  func ratio() throws {
    let result = PipelineResult(rounds: [
      round(.transactional, decisions: 100, wall: 1), round(.idempotent, decisions: 200, wall: 1),
      // A slow minute of the machine slows both modes, so it must not change the ratio.
      round(.transactional, decisions: 100, wall: 10), round(.idempotent, decisions: 200, wall: 10),
      round(.transactional, decisions: 100, wall: 1), round(.idempotent, decisions: 800, wall: 1),
    ])
    #expect(result.ratio(.transactional, to: .idempotent, \.decisionsPerSecond) == 0.5)
    #expect(result.median(.transactional, \.decisionsPerSecond) == 100)
    #expect(result.ratio(.transactional, to: .passthrough, \.decisionsPerSecond) == nil)
    #expect(result.modes == [.transactional, .idempotent])
  }

  @Test("figures for each decision and record do not divide by zero")
  func empty() {
    let round = round(.passthrough, decisions: 0, wall: 1)
    #expect(round.processorPerRecord == 500_000)
    #expect(round.processorPerMillionDecisions == 500_000)
  }

  @Test("processor time grows with work, and so does the clock")
  func usage() {
    let before = ProcessUsage.now()
    // Other tests of the process may do all of the work.
    while ProcessUsage.now().processorSeconds - before.processorSeconds < 0.01 {}
    let usage = ProcessUsage.now() - before
    #expect(usage.processorSeconds >= 0.01)
    #expect(usage.wallSeconds > 0)
  }
}
