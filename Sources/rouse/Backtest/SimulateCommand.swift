import ArgumentParser
import Backtesting
import Domain
import Foundation
import JSON
import LineFiles
import Policies
import Replay

/// The value of `--device-model`.
enum DeviceModelOption: String, ExpressibleByArgument, CaseIterable {
  case trusting, apple

  /// The model of that name.
  var name: DeviceModel.Name {
    switch self {
    case .trusting: .trusting
    case .apple: .apple
    }
  }
}

/// `rouse simulate`: compares policies on recorded events, with each other and with hindsight.
struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate", abstract: "Compare policies with each other and with hindsight, on real events.",
    discussion: """
      Replays the events through all policies in one pass, and measures what people would have seen. A look at a screen \
      that is wrong counts by how wrong it is: 0 if the screen shows the truth, 1 if it is as wrong as can be. `displays` \
      of the first policy says how wrong a difference is, for all policies. For each instance and day, the command \
      computes the least wrong looks that as many reloads could have left, known only in hindsight and exact. Wrong looks \
      captured is the share of the wrong looks that a policy set right, of those that could have been. Strategies in use \
      today run on the same events as baselines.

      A view curve says when people look; it stands for 50 looks a day. With --views, the recorded looks count instead: \
      those of a device itself, or else a copy of recorded days.

      With --device-model apple, devices have hidden budgets: 40 to 70 reloads a day for each widget, more for one that \
      people look at often. A device accepts a push beyond its budget without a reload, and sends a receipt for each \
      reload. The report then also shows what the screens really showed. Starts, tokens and pushes of Live Activities are \
      lost, too, and people remove activities. If instances share limits (a rate of pushes, \
      the number of an app, one push for several widgets), policies are also compared with an upper bound.

      COLUMNS
        tokens       tokens of an instance and day
        captured     wrong looks captured: the mean over instances and days
        p10          the share that nine of ten instances and days reach
        wrong looks  looks a day that saw something wrong, each counted by how
                     wrong it was
        freshness    another measure: the relevance of the changes shown,
                     halved every half-life, as a share of the most that as
                     many reloads could have shown; its mean and its p10
        stale min    minutes a day and instance with a change not shown yet,
                     weighted by the share of looks at that time of day
        fresh p50, p95  time until a change of relevance 0.8 or more was shown;
                     - if there was none
        never        share of those changes that were never shown
        waste        share of the reloads that showed nothing new; a push also
                     reloads the other widgets of the app
        unused       tokens left at the end of a day
        starved      instances and days with a change but without a reload
        over         reloads beyond the day's tokens; must be 0

        "on the screen", with --device-model:
        refused      pushes that reloaded nothing: beyond the hidden budget
        believed     captured as the planner believes it, less what was captured
        looks        all looks
        stale        share of the looks that saw something wrong

        "shared limits", if instances share some:
        shown        relevance shown, beside the sum of the optima of each
                     instance alone, as if no limit were shared
        upper bound  no plan that keeps all limits shows more; "of bound" is
                     the share of it, with its p10

        "objective", if a policy has one for the kind:
        in time      share of the changes from wrongAtLeast on that were shown
                     within freshWithin, or undone, as the decisions say
        at best      the largest share that any reloads could have shown in
                     time, with the same tokens and minimum interval
        avoidable    missed changes that those reloads would have shown
        unavoidable  missed changes that no such reloads could have shown

        by surface:
        at 10, at 5  pushes of Live Activities by priority, charged and free
        told         changes that a push delivered, and those that none did

      A day counts for captured if reloads could have set right more than 0.01 looks. Two reloads in hindsight lie 5 minutes \
      apart, or the minimum interval of the policy if that is less. The best day begins with a right screen, while a \
      policy may have left it wrong the day before; so captured can be below 0.

      Baselines keep only to the day's tokens and the minimum interval. A policy with quiet hours, a rate of pushes or \
      several widgets behind one push has more limits to keep, and can capture less for that reason.

      EXAMPLE
        rouse simulate --policy now.yaml --policy next.yaml \\
          --devices devices.jsonl.gz --events events.jsonl.gz --report report.html
        rouse simulate --policy p.yaml --devices d.jsonl --events e.jsonl \\
          --views screen.jsonl.gz --days days.jsonl --format json
        rouse simulate --policy p.yaml --devices d.jsonl --events e.jsonl \\
          --signals signals.jsonl --device-model apple --seed 7
        rouse simulate --strategies
      """)

  @Option(help: ArgumentHelp("A policy, a YAML file; may be given several times.", valueName: "file"))
  var policy: [String] = []
  @Option(help: .registrations)
  var devices: String?
  @Option(help: .events)
  var events: String?
  @Option(help: .signals)
  var signals: String?
  @OptionGroup var looks: ViewsOptions
  @Option(
    help: "Behaviour of devices: reload for every push, or have hidden budgets as Apple describes them.")
  var deviceModel = DeviceModelOption.trusting
  @Option(help: ArgumentHelp("Seed of the random choices of --device-model.", valueName: "number"))
  var seed: UInt64 = 1
  @Option(help: ArgumentHelp("Largest number of instances to measure; all are planned.", valueName: "count"))
  var instances = 5_000
  @Option(
    help: ArgumentHelp(
      "Share of the measured devices, by a hash of their ids, on which objectives are compared with hindsight.",
      valueName: "share"))
  var sample = 1.0
  @Flag(inversion: .prefixedNo, help: "Run strategies in use today as baselines on the same events.")
  var baselines = true
  @Option(help: ArgumentHelp("Where to write a page with charts, one self-contained HTML file.", valueName: "file"))
  var report: String?
  @Option(help: ArgumentHelp("Where to write every instance and day of every plan, one a line.", valueName: "file"))
  var days: String?
  @Flag(help: "Print only a table of how three classic strategies spend a day's tokens.")
  var strategies = false
  @Option(help: ArgumentHelp("Tokens a day for --strategies.", valueName: "count"))
  var tokens = 48
  @OptionGroup var output: FormatOption

  func validate() throws {
    if strategies {
      if tokens < 1 || tokens > 1000 { throw ValidationError("--tokens: found \(tokens), expected 1 to 1000") }
      return
    }
    if policy.isEmpty { throw ValidationError("name at least one --policy, or ask for --strategies") }
    if devices == nil { throw ValidationError("name the registrations with --devices") }
    if events == nil { throw ValidationError("name the events with --events") }
    if instances < 1 { throw ValidationError("--instances: found \(instances), expected 1 or more") }
    if !(sample > 0 && sample <= 1) {
      throw ValidationError("--sample: found \(sample), expected more than 0 and at most 1, such as 0.01")
    }
    try Files.checkDistinct(
      outputs: [("--report", report), ("--days", days)],
      inputs: policy.map { ("--policy", $0) } + [
        ("--devices", devices), ("--events", events), ("--signals", signals), ("--views", looks.views),
      ])
  }

  func run() throws {
    if strategies { return try printStrategies() }
    guard let devices, let events else { return }
    var options = BacktestOptions(candidates: try candidates(), devices: devices, events: events)
    options.baselines = baselines
    options.instancesMax = instances
    options.objectiveShare = sample
    options.signals = signals
    options.screens = try looks.screens()
    options.deviceModel = DeviceModel(deviceModel.name, seed: seed)
    let line = ProgressLine()
    defer { line.end() }
    var writer = try days.map { try LineWriter(path: $0) }
    let run = BacktestRun(
      options, progress: { progress in line.show(Self.text(progress)) },
      reportDay: { (day) throws(LineFileError) in
        try writer?.append(day.json)
        try writer?.endLine()
      })
    let result = try run.run()
    try writer?.close()
    line.end()
    if let report {
      var writer = try LineWriter(path: report)
      try writer.append(BacktestPage(result, views: options.screens?.curve.hourly).html)
      try writer.close()
    }
    switch output.format {
    case .text: try Output.print(BacktestText.text(result))
    case .json: try Output.print(result.json)
    }
  }

  /// Returns the policies, named by their file names; by their paths if two files have the same name.
  private func candidates() throws -> [BacktestOptions.Candidate] {
    let names = policy.map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent }
    let unique = Set(names).count == names.count
    return try zip(policy, names).map { path, name in
      BacktestOptions.Candidate(name: unique ? name : path, policy: try PolicyFile.document(path).policy)
    }
  }

  private static func text(_ progress: BacktestRun.Progress) -> PrintableText {
    let share = ProgressLine.share(progress.done, of: progress.total)
    return switch progress.stage {
    case .registering: "\(Digits.grouped(progress.count)) devices\(share)"
    case .planning: "\(Digits.grouped(progress.count)) events\(share)"
    case .measuring: "measuring\(share)"
    }
  }

  private func printStrategies() throws {
    let table = ClassicStrategies(tokens: tokens)
    switch output.format {
    case .text: try Output.print(BacktestText.text(table))
    case .json: try Output.print(table.json)
    }
  }
}
