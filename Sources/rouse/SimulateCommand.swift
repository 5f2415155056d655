import ArgumentParser
import Backtesting
import Domain
import Foundation
import JSON
import LineFiles
import Policies

/// `--device-model`
enum DeviceModelOption: String, ExpressibleByArgument, CaseIterable {
  case trusting, apple

  var name: DeviceModel.Name {
    switch self {
    case .trusting: .trusting
    case .apple: .apple
    }
  }
}

struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate", abstract: "Compare policies with each other and with hindsight, on real events.",
    discussion: """
      Replays the events through all policies in one pass and works out, per instance and day, the most that the day's \
      tokens could have shown: freshness captured is what a policy showed, as a share of that. The strategies in use \
      today run on the same streams. The first policy's rules say what a change is worth, for all of them.

      With --device-model apple the devices have budgets of their own, which no planner sees: 40 to 70 reloads a day and \
      widget, by how often it is looked at. What is beyond is accepted and does nothing; what reloads is told by a \
      receipt. The report then also says what was really on the screens. Where instances share limits (a rate of \
      pushes, an app's number, one push for several widgets), policies are held against an upper bound besides.

      COLUMNS
        tokens     a day and instance
        captured   share of the most that so many reloads could have shown: the mean over instances and days
        p10        the same, of the worst tenth of the days
        stale min  minutes a day and instance with something new that was not shown yet, by the chance of a look
        fresh p50, p95  how long until a change of relevance 0.8 or more was shown; - where there was none
        never      of those changes, the share that was never shown
        waste      share of the reloads that showed nothing new
        unused     tokens left at the end of a day
        starved    days of an instance without a reload though something came
        over       reloads beyond the day's tokens; must be 0

      The strategies of today keep the day's tokens and the minimum interval alone. A policy that has quiet hours, a \
      rate of pushes or several widgets behind one push gives something up for those, which they do not.

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
  @Option(help: ArgumentHelp("Registrations, one a line.", valueName: "file"))
  var devices: String?
  @Option(help: ArgumentHelp("CloudEvents in structured mode, one a line, ordered by time.", valueName: "file"))
  var events: String?
  @Option(help: ArgumentHelp("CloudEvents rouse.signal.*, one a line, ordered by time.", valueName: "file"))
  var signals: String?
  @Option(
    help: ArgumentHelp(
      """
      When people look: screen events {device, time, kind}, one a line. Replaces the policies' view curves; a device that \
      is named there is judged by its own, and its looks are told to the planners.
      """, valueName: "file"))
  var views: String?
  @Option(help: ArgumentHelp("Time zone in which the hours of --views are counted.", valueName: "zone"))
  var viewsZone = "UTC"
  @Option(
    help: "What devices do with a push: grant what the planner believes, or as hidden budgets of Apple's kind say.")
  var deviceModel = DeviceModelOption.trusting
  @Option(help: ArgumentHelp("Seed of what --device-model draws.", valueName: "number"))
  var seed: UInt64 = 1
  @Option(help: ArgumentHelp("Instances to measure at most; all are planned for.", valueName: "count"))
  var instances = 5_000
  @Flag(inversion: .prefixedNo, help: "Run the strategies in use today on the same streams.")
  var baselines = true
  @Option(help: ArgumentHelp("A page with charts to write, one self-contained file.", valueName: "file"))
  var report: String?
  @Flag(help: "Print how three classic strategies spend a day's tokens, and nothing else.")
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
    if (policy + [devices, events, signals, views].compactMap { $0 }).filter({ $0 == "-" }).count > 1 {
      throw ValidationError("only one input can be - (standard input)")
    }
    try DistinctFiles.check(
      inputs: policy.map { .init("--policy", $0) } + [
        .init("--devices", devices), .init("--events", events), .init("--signals", signals), .init("--views", views),
      ], outputs: [.init("--report", report)])
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
    case .text: try Output.print(SimulateText.text(result))
    case .json: try Output.print(result.json)
    }
  }

  /// By file name; where two files have the same, by path.
  private func candidates() throws -> [BacktestOptions.Candidate] {
    let names = policy.map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent }
    let unique = Set(names).count == names.count
    return try zip(policy, names).map { path, name in
      BacktestOptions.Candidate(name: unique ? name : path, policy: try PolicyFile.document(path).policy)
    }
  }

  private static func text(_ progress: BacktestRun.Progress) -> String {
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
    case .text: try Output.print(SimulateText.text(table))
    case .json: try Output.print(table.json)
    }
  }
}
