import Domain
import Testing

@testable import Policies

@Suite struct PolicyMutationTests {
  @Test(
    "a damaged document is read or refused with places inside it, and never crashes",
    arguments: [1, 2, 3, 4] as [UInt64], ["everything", "live-activities"])
  func mutations(seed: UInt64, example: String) throws {
    var random = SeededRandom(seed: seed)
    let valid = try Repository.bytes("schemas/examples/policy/valid/\(example).yaml")
    for round in 0..<400 {
      var bytes = valid
      for _ in 0..<Int.random(in: 1...4, using: &random) { Self.damage(&bytes, &random) }
      do {
        let document = try PolicyDocument(bytes: bytes, file: "damaged.yaml")
        Self.expectInside(document.warnings, bytes, "\(example), seed \(seed), round \(round)")
      } catch {
        #expect(!error.problems.isEmpty)
        Self.expectInside(error.problems, bytes, "\(example), seed \(seed), round \(round)")
      }
    }
  }

  private static let fragments = [
    "{", "}", "[", "]", ":", ": ", "- ", "\n", "\t", "\"", "'", "#", "&a ", "*a ", "!x ", "|", ">", "?", "%", "---\n",
    "\r", "é",
    "\u{2028}", "\u{E000}", "\u{FEFF}", "\0", "-1", "1e999", "99999999999999999999", "null", "\\x", "🛩", "15", "0x1",
  ]

  private static func damage(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
    let at = Int.random(in: 0..<max(1, bytes.count), using: &random)
    let end = min(bytes.count, at + Int.random(in: 1...30, using: &random))
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes.removeSubrange(min(at, end)..<end)
    case 1:
      bytes.insert(contentsOf: Array((fragments.randomElement(using: &random) ?? "").utf8), at: min(at, bytes.count))
    case 2: if at < bytes.count { bytes[at] = UInt8.random(in: 0...255, using: &random) }
    case 3:
      bytes.insert(contentsOf: Array(bytes[min(at, end)..<end]), at: Int.random(in: 0...bytes.count, using: &random))
    default:
      bytes.removeSubrange(at.advanced(by: 0)..<(Int.random(in: 0..<20, using: &random) == 0 ? bytes.count : end))
    }
  }

  /// Checks that problems lie inside the document. It counts lines in its own way, so that a mistake in `SourceText` shows.
  private static func expectInside(_ problems: [PolicyProblem], _ bytes: [UInt8], _ what: String) {
    let text = String(decoding: bytes, as: UTF8.self)
    let ends: [Character] = ["\n", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}"]
    let lines = text.split(omittingEmptySubsequences: false) { ends.contains($0) }
    for problem in problems {
      #expect((1...lines.count).contains(problem.line), "\(what): \(problem)")
      guard (1...lines.count).contains(problem.line) else { continue }
      let width = lines[problem.line - 1].unicodeScalars.count
      #expect((1...(width + 1)).contains(problem.column), "\(what): \(problem)")
    }
  }
}
