import ArgumentParser
import Domain
import Foundation
import Installation
import JSON
import KafkaClient
import LineFiles
import Operating
import Pipeline
import Policies
import Verification

/// `rouse verify`: checks decisions and commands, from Kafka or from files, against each other and against limits.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Recompute every ledger from decisions and commands alone.",
    discussion: """
      Reads both topics from the beginning to the end, committed records only, or files as `rouse plan` or \
      `rouse audit export` writes them, and checks: an id stands for one record; each event has one final decision per device and instance; one \
      decision caused each command, and the command serves what its decisions say; it charges the instances that it serves, and a background \
      push those of the kinds that it names; each charge takes one token from a \
      ledger, only a new window refills it, and it never becomes negative. With the policy, or a limit, rates are \
      recomputed too.

      The check shares no code with the planners whose work it checks. Above 96 MiB of records it sorts them in the \
      temporary folder (TMPDIR), about 70 bytes a decision. Exits 1 when anything is wrong, and names the first cases.

      EXAMPLE
        rouse verify --bootstrap localhost:9092 --policy policy.yaml
        rouse verify --decisions decisions.jsonl.gz \\
          --commands commands.jsonl.gz --device-limit 5/1h/3
        rouse verify --export records.jsonl.gz --policy policy.yaml
      """)

  @OptionGroup var settings: SettingsOptions
  @Option(help: ArgumentHelp("Decisions from a file instead of Kafka, one a line.", valueName: "file"))
  var decisions: String?
  @Option(help: ArgumentHelp("Commands from a file instead of Kafka, one a line.", valueName: "file"))
  var commands: String?
  @Option(help: ArgumentHelp("Decisions and commands from an export instead of Kafka.", valueName: "file"))
  var export: String?
  @Option(help: ArgumentHelp("A policy that decided. Repeat the option for several.", valueName: "file"))
  var policy: [String] = []
  @OptionGroup var profile: ProfileOption
  @Option(
    help: ArgumentHelp("Pushes to a device as limit/window/burst, where no policy is given.", valueName: "5/1h/3"))
  var deviceLimit: String?
  @Option(help: ArgumentHelp("How many cases of each broken rule to describe, 1 to 1,000,000.", valueName: "number"))
  var examples = LedgerCheck.examplesDefault
  @Flag(help: "Allow tokens to come back because APNs refused a push.")
  var allowRefunds = false
  @OptionGroup var output: FormatOption

  func validate() throws {
    if (decisions == nil) != (commands == nil) {
      throw ValidationError("--decisions and --commands go together: name both, or neither to read from Kafka")
    }
    if export != nil, decisions != nil {
      throw ValidationError("--export holds decisions and commands: leave out --decisions and --commands")
    }
    try Files.checkDistinct(
      outputs: [],
      inputs: [
        ("--decisions", decisions), ("--commands", commands), ("--export", export), ("--profile", profile.profile),
      ]
        + policy.map { ("--policy", $0) })
    if let deviceLimit { _ = try Self.rate(deviceLimit) }
    guard (1...1_000_000).contains(examples) else {
      throw ValidationError("--examples is out of range; expected a whole number from 1 to 1,000,000")
    }
  }

  func run() async throws {
    var check = LedgerCheck(limits: try limits(), refundsAllowed: allowRefunds, examplesMax: examples)
    if let export {
      // A line that is neither is refused as a decision, with its place.
      let isCommand = Array("{\"command\":".utf8)
      try Self.read(export) { bytes, place in
        if bytes.starts(with: isCommand) {
          check.add(command: bytes, place: place())
        } else {
          check.add(decision: bytes, place: place())
        }
      }
    } else if let decisions, let commands {
      try Self.read(decisions) { bytes, place in check.add(decision: bytes, place: place()) }
      try Self.read(commands) { bytes, place in check.add(command: bytes, place: place()) }
    } else {
      try readTopics(try settings.resolve().connected(), into: &check)
    }
    let report = try check.finish()
    switch output.format {
    case .text: try Output.print(report.text)
    case .json:
      var json = JSONWriter()
      report.encode(to: &json)
      try Output.print(json.bytes)
    }
    if report.violationCount > 0 { throw ExitCode(1) }
  }

  /// Passes each line of a file to `take`, with its place. Empty lines are skipped.
  private static func read(_ path: String, _ take: ([UInt8], () -> String) -> Void) throws {
    var reader = try LineReader(path: path)
    while let line = try reader.next() {
      if line.isEmpty { continue }
      let (file, number) = (reader.path, reader.lineNumber)
      take(Array(line), { "\(file):\(number)" })
    }
  }

  /// Adds every committed record of both topics.
  private func readTopics(_ settings: ClusterSettings, into check: inout LedgerCheck) throws {
    let line = ProgressLine()
    defer { line.end() }
    for topic in [settings.topics.decisions, settings.topics.commands] {
      let reader = TopicReader(settings: settings)
      let cut = try reader.read(topic) { message in
        let place = "\(message.topicPartition)@\(message.offset)"
        if topic == settings.topics.decisions {
          check.add(DecisionBlock(message), place: place)
        } else {
          check.add(command: message.value ?? [], place: place)
        }
        if check.recordCount % 10_000 == 0 { line.show("\(Digits.grouped(check.recordCount)) records") }
      }
      if cut {
        check.historyIsCut = true
        Words.say("rouse: the oldest records of \(topic) are gone; their effects cannot be checked")
      }
    }
  }

  // MARK: Limits

  /// Returns the limits of the policies that the options name, by the hash of the policy in the records.
  private func limits() throws -> [Identifier: LedgerLimits] {
    var limits: [Identifier: LedgerLimits] = [:]
    for path in policy {
      let policy = try PolicyFile.document(path, profile: profile.profile).policy
      limits[policy.reference.hash] = LedgerLimits(policy)
    }
    if let deviceLimit { limits[""] = LedgerLimits(rates: [.device: [try Self.rate(deviceLimit)]]) }
    return limits
  }

  /// Reads `limit/window/burst`.
  /// - Throws: `ValidationError` for anything else.
  private static func rate(_ text: String) throws -> LedgerLimits.RateLimit {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let limit = Int(parts[0]), limit > 0, let burst = Int(parts[2]), burst > 0 else {
      throw ValidationError("--device-limit \(text): expected limit/window/burst such as 5/1h/3")
    }
    do throws(DurationText.Refusal) {
      return LedgerLimits.RateLimit(
        limit: limit, windowMicroseconds: try DurationText.parse(parts[1]).microseconds, burst: burst)
    } catch { throw ValidationError("--device-limit \(text): \(error.message)") }
  }
}
