import ArgumentParser
import Domain
import JSON
import Planning
import Policies
import Replay

/// `rouse plan`: plans events from files.
struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Plan events from files, without Kafka: files in, files out.",
    discussion: """
      Registers all devices, then plans events and signals in the order of their times, each as one record of a log. \
      Timers fire when they are due. The same files and the same policy give the same bytes. A record with the member \
      rouselogtime, as `rouse log export` writes it, is planned at that time. So is a registration, which then stands behind those \
      without, in the order of these times: a device that changes has several.

      A line that cannot be used never stops the run. The command counts such lines, shows the first few, and writes all \
      of them to --dead-letters. If no line of an input can be used, the command fails with exit code 1. Outputs that are \
      not named are not written.

      With --views, the planner knows when people look: the hours of the recorded looks replace the view curves of the \
      policy, and the looks at registered devices are planned as signals rouse.signal.widget.viewed. Decisions still \
      carry the version and the hash of the policy file.

      With --as-run, the output equals, byte for byte, what `rouse run` writes with timestamps=event on one partition, if the topics \
      get the same records in the same order: registrations first, then events and signals by time, no event twice, and \
      no broadcast channels. Such a log has no ticks, so what waits is looked at again with the next record, and what \
      still waits at the end stays open. Without --as-run, timers fire when they are due, as they do in operation.

      A Live Activity that a push starts is updated once its registration is read. If the files hold no such registrations, \
      use --register-activities: then devices register an activity two seconds after its start, and register without it two \
      seconds after its end.

      EXAMPLE
        rouse plan --policy policy.yaml --devices devices.jsonl.gz \\
          --events events.jsonl.gz --decisions decisions.jsonl.gz \\
          --commands commands.jsonl.gz --audit audit.sqlite
        zcat events.jsonl.gz | rouse plan --policy policy.yaml \\
          --devices devices.jsonl --events - --decisions -
      """)

  @Option(help: ArgumentHelp("The policy, a YAML file.", valueName: "file"))
  var policy: String
  @OptionGroup var limits: ProfileOption
  @Option(help: .registrations)
  var devices: String
  @Option(help: .events)
  var events: String
  @Option(help: .signals)
  var signals: String?
  @OptionGroup var looks: ViewsOptions
  @Option(help: ArgumentHelp("Where to write decisions, one a line.", valueName: "file"))
  var decisions: String?
  @Option(help: ArgumentHelp("Where to write commands, one a line.", valueName: "file"))
  var commands: String?
  @Option(help: ArgumentHelp("Where to write lines that cannot be used, with the reason.", valueName: "file"))
  var deadLetters: String?
  @Option(help: ArgumentHelp("Where to make an audit store, for `rouse audit`.", valueName: "file"))
  var audit: String?
  @Flag(inversion: .prefixedNo, help: "Fire the timers of the 48 hours after the last record.")
  var drain = true
  @Flag(help: "Plan as rouse run does with timestamps=event on one partition: without ticks.")
  var asRun = false
  @Flag(help: "Let devices register the Live Activities that pushes start.")
  var registerActivities = false
  @OptionGroup var output: FormatOption

  func validate() throws {
    if asRun && registerActivities {
      throw ValidationError("--as-run plans what the topics hold, so it takes no --register-activities")
    }
    try Files.checkDistinct(
      outputs: [
        ("--decisions", decisions), ("--commands", commands), ("--dead-letters", deadLetters),
      ] + Files.store("--audit", audit),
      inputs: [
        ("--policy", policy), ("--profile", limits.profile), ("--devices", devices), ("--events", events),
        ("--signals", signals), ("--views", looks.views),
      ])
  }

  func run() throws {
    let started = Machine.seconds()
    let document = try PolicyFile.document(policy, profile: limits.profile)
    var options = PlanOptions(policy: document.policy, devices: devices, events: events)
    options.signals = signals
    options.screens = try looks.screens()
    options.decisions = decisions
    options.commands = commands
    options.deadLetters = deadLetters
    options.log = asRun ? .replayed : .own
    options.registersActivities = registerActivities
    options.drain = drain ? PlanOptions.drainDefault : nil
    let line = ProgressLine()
    defer { line.end() }
    let auditing = try audit.map { try PlanAuditing(path: $0) }
    let run = try PlanRun(
      options,
      progress: { progress in
        line.show(
          "\(Digits.grouped(progress.events)) events\(ProgressLine.share(progress.bytesConsumed, of: progress.bytesTotal))"
            + ", \(rate(progress.decisions, Machine.seconds() - started)) decisions/s")
      }, observe: auditing.map { auditing in { try auditing.take($0, of: $1) } })
    let summary = try run.run()
    try auditing?.finish()
    line.end()
    try report(summary, seconds: Machine.seconds() - started)
    try refuseForeignInputs(summary)
  }

  /// Fails if no line of an input could be used: the option names the wrong file, and a plan without its records would be
  /// meaningless.
  private func refuseForeignInputs(_ summary: PlanSummary) throws {
    let inputs = [
      ("--devices", devices, "a registration", summary.registrations, summary.refusedRegistrations),
      ("--events", events, "an event", summary.events, summary.refusedEvents),
      ("--signals", signals ?? "", "a signal", summary.signals, summary.refusedSignals),
    ]
    let foreign = inputs.filter { $0.3 == 0 && $0.4 > 0 }
    guard let (_, path, what, _, refused) = foreign.first else { return }
    let swapped = foreign.count > 1 ? "; are \(foreign[0].0) and \(foreign[1].0) swapped?" : "; name another file"
    throw Failure(
      "no line of \(path) is \(what): \(refused == 1 ? "the only one" : "all \(Digits.grouped(refused))") refused\(swapped)"
    )
  }

  private func rate(_ decisions: Int, _ seconds: Double) -> String {
    Digits.grouped(Int(Double(decisions) / max(seconds, 1e-6)))
  }

  private func report(_ summary: PlanSummary, seconds: Double) throws {
    switch output.format {
    case .text:
      Words.say(
        PlanReport.text(
          summary, seconds: seconds, peakBytes: Machine.peakBytes, registersActivities: asRun || registerActivities))
    case .json:
      let json = summary.json { json in
        json.member("seconds", rounded: seconds)
        json.member("decisionsPerSecond", Int(Double(summary.decisions) / max(seconds, 1e-6)))
        if let bytes = Machine.peakBytes {
          json.member("peakBytes", bytes)
        }
      }
      // If data goes to standard output, a summary there would look like one of its records.
      if [decisions, commands, deadLetters].contains("-") {
        Words.say(json: json)
      } else {
        try Output.print(json)
      }
    }
  }
}
