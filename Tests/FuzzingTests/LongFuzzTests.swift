import Foundation
import Testing

#if FUZZ
  import CFuzzer
#endif

/// One target for a time, which `deploy/fuzz.sh` states: guided by coverage if the program was built for it, else by the seed.
@Suite("Longer fuzzing", .enabled(if: LongFuzz.target != nil)) struct LongFuzzTests {
  @Test("a target reads inputs for the given time") func target() throws {
    guard let target = LongFuzz.target else { return }
    try LongFuzz.run(target)
  }
}

/// The order of `deploy/fuzz.sh`, given in environment variables.
enum LongFuzz {
  /// The name of the target: `ROUSE_FUZZ_TARGET`.
  static let target = ProcessInfo.processInfo.environment["ROUSE_FUZZ_TARGET"]
  /// The time: `ROUSE_FUZZ_SECONDS`.
  private static let seconds = ProcessInfo.processInfo.environment["ROUSE_FUZZ_SECONDS"].flatMap { Int($0) } ?? 60
  private static let seed = ProcessInfo.processInfo.environment["ROUSE_TEST_SEED"].flatMap { UInt64($0) } ?? 1

  #if FUZZ
    /// The target of libFuzzer's function, which can capture nothing.
    nonisolated(unsafe) private static var body: (([UInt8]) throws -> Void)?

    /// Runs libFuzzer, which ends the process: with status 0 when the time is over, and with another one after it wrote the
    /// input of a finding to the folder of finds.
    static func run(_ name: String) throws {
      let target = try #require(FuzzTarget.all.first { $0.name == name }, "there are \(FuzzTarget.names)")
      let folder = FuzzPlace.folder.appending(path: "corpus/\(name)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (index, seed) in try (target.corpus() + target.seeds()).enumerated() {
        try Data(seed).write(to: folder.appending(path: "seed-\(index)"))
      }
      let words = [
        "fuzz", folder.path, "-max_total_time=\(seconds)", "-seed=\(seed)", "-timeout=20", "-rss_limit_mb=3072",
        "-max_len=\(FuzzMutator.bytesMax)", "-len_control=20", "-artifact_prefix=\(FuzzPlace.folder.path)/\(name)-",
        "-dict=\(try dictionary().path)", "-print_final_stats=1", "-reload=0",
      ]
      unsafe body = target.body
      let pointers = unsafe words.map { unsafe UnsafePointer(strdup($0)) }
      _ = unsafe pointers.withUnsafeBufferPointer { words in
        unsafe fuzzer_run(Int32(words.count), words.baseAddress) { bytes, count in
          unsafe LongFuzz.read(Array(UnsafeBufferPointer(start: bytes, count: count)))
          return 0
        }
      }
    }

    private static func read(_ input: [UInt8]) {
      do { try unsafe body?(input) } catch {
        print("finding: \(error)")
        abort()
      }
    }

    /// Writes the hostile pieces in libFuzzer's form.
    private static func dictionary() throws -> URL {
      let pieces = FuzzWords.texts + FuzzWords.bytes
      let lines = pieces.filter { !$0.isEmpty && $0.count < 64 }.map { piece in
        "\"" + piece.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
      }
      let file = FuzzPlace.folder.appending(path: "words.dict")
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
      return file
    }
  #else
    /// Reads mutations, and prints their number.
    static func run(_ name: String) throws {
      let count = try FuzzRun(target: name, seed: seed).cases(for: .seconds(seconds))
      print("Done \(count) runs in \(seconds) second(s)")
    }
  #endif
}
