import ArgumentParser
import Auditing
import Backtesting
import Domain
import JSON
import LineFiles
import Policies
import Replay

/// Compares the decisions of a store with the best schedules in hindsight.
struct AuditObjectivesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "objectives",
    abstract: "Say how many of the missed changes of an objective no reloads could have shown.",
    discussion: """
      Reads all decisions of the store. Of kinds with an objective, a change counts by the decision that closes it: met or \
      missed. For each instance, the command computes how many of its changes any reloads within the day's tokens and the \
      minimum interval of the policy could have shown in time, known only in hindsight and exact. Missed changes beyond that are \
      unavoidable.

      Budget days are those of the devices' time zones, which the store does not hold: --devices names the registrations. \
      With --sample only a part of the devices is compared, chosen by a hash of their ids; a fleet needs no more than 0.01.

      EXAMPLE
        rouse audit objectives --store audit.sqlite --policy policy.yaml \\
          --devices devices.jsonl.gz --sample 0.01
      """)

  @OptionGroup var audit: AuditOptionGroup
  @Option(help: ArgumentHelp("The policy with the objectives and budgets.", valueName: "file"))
  var policy: String
  @Option(
    help: ArgumentHelp("Registrations, for the time zones; without them days are those of UTC.", valueName: "file"))
  var devices: String?
  @Option(help: ArgumentHelp("Share of the devices to compare, by a hash of their ids.", valueName: "share"))
  var sample = 1.0
  @OptionGroup var time: TimeRangeOptions

  func validate() throws {
    if !(sample > 0 && sample <= 1) {
      throw ValidationError("--sample: found \(sample), expected more than 0 and at most 1, such as 0.01")
    }
  }

  func run() throws {
    var hindsight = ObjectiveHindsight(try PolicyFile.document(policy).policy, share: sample)
    guard hindsight.hasObjectives else {
      throw Failure("\(policy): no kind has an objective; see `rouse policy explain`")
    }
    let store = try audit.open()
    let line = ProgressLine()
    defer { line.end() }
    if let devices {
      var registrations = try PlanInput.registrations(path: devices)
      var refused: RefusedLine?
      while let registration = try registrations.next(refused: { (line) throws(LineFileError) in
        refused = refused ?? line
      }) { hindsight.take(registration) }
      if let refused { Words.say("a line was refused, the first: \(refused)") }
    }
    var read = 0
    try store.export(time.range) { entry in
      if case .decision(let decision) = entry { hindsight.take(decision) }
      read += 1
      if read % 1024 == 0 { line.show("\(Digits.grouped(read)) rows") }
      return true
    }
    let results = hindsight.results()
    line.end()
    switch audit.output.format {
    case .text: try Output.print(BacktestText.objectives(results.map { ($0.kind.text, $0.objective) }))
    case .json:
      var json = JSONWriter()
      json.object { json in
        ObjectiveHindsight.encode(results, to: &json)
      }
      try Output.print(json.bytes)
    }
    if results.allSatisfy({ $0.objective.changes == 0 }) {
      Words.say("no decision about the sampled devices counts for an objective; try a larger --sample")
    }
  }
}
