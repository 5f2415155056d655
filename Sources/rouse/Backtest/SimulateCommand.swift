import ArgumentParser
import Backtesting
import Domain
import Foundation
import JSON
import LineFiles
import Policies

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
      Replays the events through all policies in one pass. For each instance and day, the command computes the most that \
      the day's tokens could have shown in hindsight. Freshness captured is the share of it that a policy showed. \
      Strategies in use today run on the same events as baselines. The rules of the first policy say what a change is \
      worth, for all of them.

      With --device-model apple, devices have hidden budgets: 40 to 70 reloads a day for each widget, more for one that \
      people look at often. A device accepts a push beyond its budget without a reload, and sends a receipt for each \
      reload. The report then also shows what the screens really showed. If instances share limits (a rate of pushes, \
      the number of an app, one push for several widgets), policies are also compared with an upper bound.

      COLUMNS
        tokens     tokens of an instance and day
        captured   share of the most that as many reloads could have shown: the mean over instances and days
        p10        the share that nine of ten instances and days reach
        stale min  minutes a day and instance with a change not shown yet, weighted by the chance of a look
        fresh p50, p95  time until a change of relevance 0.8 or more was shown; - if there was none
        never      share of those changes that were never shown
        waste      share of the reloads that showed nothing new
        unused     tokens left at the end of a day
        starved    instances and days with a change but without a reload
        over       reloads beyond the day's tokens; must be 0

      Baselines keep only to the day's tokens and the minimum interval. A policy with quiet hours, a rate of pushes or \
      several widgets behind one push has more limits to keep, and can capture less for that reason.

      EXAMPLE
        rouse simulate --policy now.yaml --policy next.yaml \\
          --devices devices.jsonl.gz --events events.jsonl.gz --report report.html
        rouse simulate --policy p.yaml --devices d.jsonl --events e.jsonl \\
          --views screen.jsonl.gz --format json
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
  @Option(
    help: ArgumentHelp(
      """
      Recorded looks: screen events {device, time, kind}, one a line. Replaces the view curves of all policies. A \
      device with recorded looks is measured by its own curve, and the planners receive its looks as signals.
      """, valueName: "file"))
  var views: String?
  @Option(help: ArgumentHelp("Time zone in which the hours of --views are counted.", valueName: "zone"))
  var viewsZone = "UTC"
  @Option(
    help: "Behaviour of devices: reload for every push, or have hidden budgets as Apple describes them.")
  var deviceModel = DeviceModelOption.trusting
  @Option(help: ArgumentHelp("Seed of the random choices of --device-model.", valueName: "number"))
  var seed: UInt64 = 1
  @Option(help: ArgumentHelp("Largest number of instances to measure; all are planned.", valueName: "count"))
  var instances = 5_000
  @Flag(inversion: .prefixedNo, help: "Run strategies in use today as baselines on the same events.")
  var baselines = true
  @Option(help: ArgumentHelp("Where to write a page with charts, one self-contained HTML file.", valueName: "file"))
  var report: String?
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
    try Files.checkDistinct(
      outputs: [("--report", report)],
      inputs: policy.map { ("--policy", $0) } + [
        ("--devices", devices), ("--events", events), ("--signals", signals), ("--views", views),
      ])
    if TimeZone(identifier: viewsZone) == nil {
      throw ValidationError("--views-zone: found \"\(viewsZone)\", expected an IANA zone such as Europe/Helsinki")
    }
  }

  func run() throws {
    if strategies { return try printStrategies() }
    guard let devices, let events else { return }
    var options = BacktestOptions(candidates: try candidates(), devices: devices, events: events)
    options.baselines = baselines
    options.instancesMax = instances
    options.signals = signals
    options.screens = try views.map { try ScreenEvents(path: $0, zone: viewsZone) }
    options.deviceModel = DeviceModel(deviceModel.name, seed: seed)
    let line = ProgressLine()
    defer { line.end() }
    let result = try BacktestRun(options) { progress in line.show(Self.text(progress)) }.run()
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
