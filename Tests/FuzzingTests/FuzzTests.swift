import Foundation
import Testing

/// Every reader of bytes, with thousands of inputs. Each target runs in a process of its own, so that a trap fails one test
/// and leaves its input. A finding becomes a file of the corpus, see `Contributing.md`.
@Suite("Fuzzing") struct FuzzTests {
  /// The seed of all mutations. Another one is tried with `ROUSE_TEST_SEED`.
  private static let seed = ProcessInfo.processInfo.environment["ROUSE_TEST_SEED"].flatMap { UInt64($0) } ?? 1

  @Test(
    "no input traps a reader, is endless work, or changes when it is written and read again",
    arguments: FuzzTarget.names)
  func target(_ name: String) async {
    let seed = Self.seed
    let result = await #expect(processExitsWith: .success, "seed \(seed)") {
      [name = name as String, seed = seed as UInt64] in
      try FuzzLimits.set()
      _ = try FuzzRun(target: name, seed: seed).cases()
    }
    if result == nil { Issue.record("\(name): \(FuzzPlace.remains(of: name))") }
  }

  @Test("every folder of the corpus belongs to a target")
  func corpus() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: FuzzTarget.corpusFolder.path)
    #expect(Set(folders).subtracting(FuzzTarget.names).isEmpty)
    #expect(Set(FuzzTarget.names).count == FuzzTarget.names.count)
  }

  @Test(
    "the seeds of a target are inputs that it accepts, and mutations repeat with their seed",
    arguments: FuzzTarget.names)
  func seeds(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let seeds = try target.seeds()
    #expect(!seeds.isEmpty)
    var mutators = [
      FuzzMutator(seeds: seeds, form: target.form, seed: 7), FuzzMutator(seeds: seeds, form: target.form, seed: 7),
    ]
    for _ in 0..<100 { #expect(mutators[0].next() == mutators[1].next()) }
  }
}

/// The most that a process may use. Inputs are small, so a reader that needs more does so because of what they claim.
enum FuzzLimits {
  /// The bytes of memory that a process may hold.
  static let memoryBytes: UInt = 3 << 30
  /// The seconds of processor time of a whole target; a fraction of it is usual. It ends endless work.
  static let processorSeconds: UInt = 300

  /// Limits this process.
  /// - Throws: a finding when the system refuses.
  static func set() throws {
    var memory = rlimit(rlim_cur: rlim_t(memoryBytes), rlim_max: rlim_t(memoryBytes))
    var processor = rlimit(rlim_cur: rlim_t(processorSeconds), rlim_max: rlim_t(processorSeconds))
    let status = unsafe setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &memory)
    let other = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &processor)
    try FuzzFinding.unless(status == 0 && other == 0, "the process cannot be limited")
  }
}
