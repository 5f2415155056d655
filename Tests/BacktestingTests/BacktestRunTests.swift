import Domain
import Foundation
import LineFiles
import Planning
import Policies
import Replay
import Testing

@testable import Backtesting

@Suite("Backtests")
struct BacktestRunTests {
  private static let resources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Sources/rouse/Resources").path

  private static func policy(perDay: Int) throws -> Policy {
    try PolicyDocument(
      yaml: """
        version: "1"
        profile: apple-2026
        limits:
          devicePushes: { limit: unlimited }
        kinds:
          Airport:
            surface: widget
            budget: { perDay: \(perDay), minInterval: 5m, dayStart: "04:00" }
            displays:
              - { field: data.waitingFlights, per: 10, weight: 0.8, initial: 0 }
              - { field: data.medianOverdueMinutes, round: 15, per: 60, weight: 0.3, initial: 0 }
            rules: [ { event: airport.delays.changed } ]
            objective: { freshWithin: 10m, share: 0.95, wrongAtLeast: 0.1 }
        """, file: "policy"
    ).policy
  }

  /// Runs a backtest over the airports of the project's sample day: one widget for each of the three airports, and a fourth
  /// on a device in developer mode.
  private func simulate<T>(
    _ perDay: [Int], model: DeviceModel = DeviceModel(), signals: [String] = [], views: [String] = [],
    events: [String] = [], _ body: (BacktestReport) throws -> T
  ) throws -> T {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("simulate-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var lines = try LineWriter(path: "\(folder)/devices.jsonl")
    for (airport, developerMode) in [("EWR", false), ("JFK", false), ("LGA", false), ("EWR", true)] {
      let token = (developerMode ? "ab" : "cd") + airport.utf8.map { String($0, radix: 16) }.joined()
      try lines.append(
        """
        {"device":"\(airport)\(developerMode)","app":"a.b","environment":"production","platform":"iOS","osVersion":"26.0",\
        "timeZone":"America/New_York","developerMode":\(developerMode),"tokens":{"widgets":"\(token)"},\
        "widgets":[{"id":"w","kind":"Airport","interests":["airport/\(airport)"]}],"updatedAt":"2013-03-08T00:00:00Z"}
        """)
      try lines.endLine()
    }
    try lines.close()
    var options = BacktestOptions(
      candidates: try perDay.map {
        BacktestOptions.Candidate(name: "at-\($0)", policy: try Self.policy(perDay: $0))
      },
      devices: "\(folder)/devices.jsonl", events: "\(Self.resources)/flights-nyc-2013-03-08.jsonl.gz")
    options.deviceModel = model
    if !events.isEmpty {
      try Self.write(events, to: "\(folder)/events.jsonl")
      options.events = "\(folder)/events.jsonl"
    }
    if !signals.isEmpty {
      try Self.write(signals, to: "\(folder)/signals.jsonl")
      options.signals = "\(folder)/signals.jsonl"
    }
    if !views.isEmpty {
      try Self.write(views, to: "\(folder)/views.jsonl")
      options.screens = try ScreenEvents(path: "\(folder)/views.jsonl", zone: "America/New_York")
    }
    return try body(try BacktestRun(options).run())
  }

  private static func write(_ lines: [String], to path: String) throws {
    var writer = try LineWriter(path: path)
    for line in lines {
      try writer.append(line)
      try writer.endLine()
    }
    try writer.close()
  }

  private static func signal(_ type: String, _ device: String, at time: String, _ data: String = "{}") -> String {
    #"{"specversion":"1.0","id":"\#(type)\#(time)","source":"/app","type":"rouse.signal.\#(type)","#
      + #""subject":"\#(device)","time":"2013-03-08T\#(time)Z","data":\#(data)}"#
  }

  /// The courses that the truth of an airport can take in a test. All last three days but the first.
  enum Course: CaseIterable {
    /// The sample day of the project.
    case sampleDay
    /// Many changes in two hours of each day, and none in the others.
    case burst
    /// A number that goes up and down between two values at random times.
    case flips
    /// A number that drifts by small steps all day.
    case drift
    /// One change a day.
    case cold

    /// The events; none for the sample day, which is a file.
    var events: [String] {
      var random = SeededRandom(seed: 11)
      var value = 0
      var lines: [String] = []
      for minute in 1..<3 * 1440 {
        let isIn =
          switch self {
          case .sampleDay: false
          case .burst: (1140..<1260).contains(minute % 1440) && random.chance(1, in: 2)
          case .flips: random.chance(1, in: 18)
          case .drift: random.chance(1, in: 12)
          case .cold: minute % 1440 == 1000
          }
        guard isIn else { continue }
        switch self {
        case .flips: value = 10 - value
        case .burst, .cold: value += 1 + random.below(6)
        case .sampleDay, .drift: value = max(0, value + random.below(5) - 2)
        }
        let time = Timestamp(microseconds: 1_362_729_600_000_000 + Int64(minute) * 60_000_000)
        lines.append(
          #"{"specversion":"1.0","id":"e\#(minute)","source":"/test","type":"airport.delays.changed","#
            + #""subject":"airport/EWR","time":"\#(time)","data":{"waitingFlights":\#(value)}}"#)
      }
      return lines
    }
  }

  @Test(
    "more tokens never leave more wrong looks, and with tokens for everything hardly more are left than first come leaves",
    arguments: Course.allCases)
  func tokens(course: Course) throws {
    let report = try simulate([4, 8, 16, 32, 64, 200], events: course.events) { $0 }
    let plans = report.kinds[0].plans.filter(\.isPolicy)
    let left = plans.map(\.wrongLooks.perDay)
    let without = plans[0].wrongLooks.perDayWithout
    #expect(left.count == 6 && without > 0)
    for (more, fewer) in zip(left.dropFirst(), left) { #expect(more <= fewer + 0.005 * without, "\(left)") }
    let firstCome = try #require(report.kinds[0].plans.last { $0.name == "first come" })
    // A burst can look for a while as if it took all tokens, which delays a push.
    let least = firstCome.wrongLooks.perDay
    #expect(left[5] <= least + 0.005 * without, "\(left), first come \(least)")
  }

  @Test(
    "the best schedule shows at least as many changes in time as the policy, on every instance",
    arguments: Course.allCases)
  func objective(course: Course) throws {
    let report = try simulate([2, 8, 200], events: course.events) { $0 }
    for plan in report.kinds[0].plans {
      guard plan.isPolicy else {
        #expect(plan.objective == nil)
        continue
      }
      let objective = try #require(plan.objective)
      #expect(objective.instances >= 1 && objective.changes > 0 && objective.met > 0)
      #expect(objective.met <= objective.possible && objective.possible <= objective.changes)
      #expect(objective.instancesBeyond == 0 && objective.instancesBound == 0)
      if plan.tokens == 200 { #expect(objective.possible == objective.changes, "5 min apart, none is ever late") }
    }
  }

  @Test("a device of the trusting model refuses no push and sends no receipt")
  func trusting() throws {
    try simulate([48]) { report in
      #expect(report.commands[0].receipts == 0)
      #expect(report.kinds[0].plans.allSatisfy { $0.screen == nil })
      #expect(report.shared.isEmpty)
    }
  }

  @Test(
    "a device with a hidden budget sends a receipt for each reload, refuses the rest, and shows less on its screen"
  )
  func hidden() throws {
    let report = try simulate([200, 30], model: DeviceModel(.apple, seed: 5)) { $0 }
    let again = try simulate([200, 30], model: DeviceModel(.apple, seed: 5)) { $0 }
    #expect(report == again)
    #expect(report.json == again.json)
    #expect(report.json != (try simulate([200, 30], model: DeviceModel(.apple, seed: 6)) { $0.json }))
    let plans = report.kinds[0].plans
    for plan in plans where plan.isPolicy {
      let screen = try #require(plan.screen)
      let receipts = try #require(report.commands.first { $0.name == plan.name }).receipts
      // Changes that still wait when the day's tokens are spent are pushed on the next day, on which no change is measured.
      let counted = plan.reloads - screen.refused
      #expect((counted...counted + 3).contains(receipts), "\(plan.name)")
      #expect(screen.looks > 20)
      #expect((0...screen.looks).contains(screen.looksStale))
      #expect(plan.overBudget == 0)
      #expect(plan.capturedTwentieths.allSatisfy { (0...1.00001).contains($0) })
    }
    // Every system grants at least 40 reloads a day, and none more than 70.
    let large = try #require(plans[0].screen)
    #expect(large.refused > 0)
    #expect(large.capturedMean < plans[0].capturedMean)
    #expect(plans[1].screen?.refused == 0)
    #expect(plans[1].screen?.capturedMean == plans[1].capturedMean)
  }

  @Test("signals reach the planner in the order of their times, and a widget's own fetch is not credited to a plan")
  func signals() throws {
    let without = try simulate([48]) { $0 }
    let fetches = (10...23).map {
      Self.signal("widget.fetched", "EWRfalse", at: "\($0):30:00", #"{"instance":"w"}"#)
    }
    let with = try simulate([48], signals: fetches + [Self.signal("app.foregrounded", "JFKfalse", at: "23:40:00")]) {
      $0
    }
    #expect(with.signals == 15)
    #expect(with.events == without.events)
    #expect(with.commands[0].decisions != without.commands[0].decisions)
    let plan = try #require(with.kinds[0].plans.first)
    #expect(plan.capturedTwentieths.allSatisfy { (0...1.00001).contains($0) })
    #expect(plan.staleSecondsPerDay < without.kinds[0].plans[0].staleSecondsPerDay)
    // A plan that hardly reloads still shows what the widget fetched by itself.
    let fewest = try #require(try simulate([1], signals: fetches) { $0 }.kinds[0].plans.first)
    let fewestAlone = try #require(try simulate([1]) { $0 }.kinds[0].plans.first)
    #expect(fewest.staleSecondsPerDay < fewestAlone.staleSecondsPerDay)
  }

  @Test("a device with recorded looks is measured by its own view curve, and the planner receives its looks")
  func ownViews() throws {
    let looks = { (hours: [Int]) in
      hours.map { #"{"device":"EWRfalse","time":"2013-03-08T\#($0):05:00Z","kind":"unlock"}"# }
        + [
          #"{"device":"p1","time":"2013-02-01T12:00:00Z","kind":"unlock"}"#,
          #"{"device":"p1","time":"2013-02-02T12:00:00Z","kind":"unlock"}"#,
        ]
    }
    let morning = try simulate([20], views: looks([12, 13, 14])) { $0 }
    let evening = try simulate([20], views: looks([20, 21, 22])) { $0 }
    let plan = try #require(morning.kinds[0].plans.first)
    let screen = try #require(plan.screen)
    #expect(screen.looks == 3)
    #expect(screen.refused == 0)
    #expect(screen.capturedMean == plan.capturedMean)
    #expect(morning.kinds[0].plans[0].capturedMean != evening.kinds[0].plans[0].capturedMean)
  }

  @Test("on a day of airports, the price beats every baseline, keeps its budget, and does not beat hindsight")
  func airports() throws {
    try simulate([48, 20]) { report in
      #expect(report.devices == 4)
      #expect(report.instances == 3)
      let kind = try #require(report.kinds.first)
      #expect(report.kinds.count == 1)
      #expect(kind.instanceDays == 3)
      #expect(kind.plans.count == 2 + 2 * ReloadStrategy.baselines.count)
      for plan in kind.plans {
        #expect(plan.overBudget == 0)
        #expect(plan.samples == 3)
        #expect(plan.capturedTwentieths.allSatisfy { (0...1.00001).contains($0) }, "\(plan.name)")
        #expect(plan.tokensLeftByHour.first == Double(plan.tokens))
        #expect(zip(plan.tokensLeftByHour, plan.tokensLeftByHour.dropFirst()).allSatisfy { $0 >= $1 })
        if plan.isPolicy {
          #expect(plan.wrongLooks.capturedMean > 0.75, "\(plan.name)")
          for rival in kind.plans where !rival.isPolicy && rival.tokens == plan.tokens {
            #expect(
              plan.wrongLooks.capturedMean > rival.wrongLooks.capturedMean - 0.005, "\(plan.name) and \(rival.name)")
          }
        }
      }
    }
  }

  @Test("a timer that is due after the end of the planner's clock does not keep a run from ending")
  func endOfTime() throws {
    let events = [60, 90].map { waiting in
      #"{"specversion":"1.0","id":"\#(waiting)","source":"s","type":"airport.delays.changed","subject":"airport/EWR","#
        + #""time":"9999-12-31T23:59:59Z","data":{"waitingFlights":\#(waiting),"previousWaitingFlights":0}}"#
    }
    for model in [DeviceModel(), DeviceModel(.apple)] {
      let report = try simulate([48], model: model, events: events) { $0 }
      #expect(report.events == 2)
      #expect(report.commands[0].commands >= 1)
    }
  }

  @Test("policies in one pass do not affect each other, and a second run gives the same report")
  func replays() throws {
    let both = try simulate([48, 20]) { $0 }
    let again = try simulate([48, 20]) { $0 }
    #expect(both == again)
    #expect(both.json == again.json)
    let alone = try simulate([20]) { $0 }
    #expect(alone.commands.first?.commands == both.commands.last?.commands)
    #expect(alone.kinds.first?.plans.first { $0.isPolicy } == both.kinds.first?.plans.last { $0.isPolicy })
  }

  @Test("the page has charts, suits light and dark displays, escapes names, and loads nothing")
  func page() throws {
    let html = try simulate([20]) { report in
      var report = report
      report.commands[0].name = "<b>&"
      return BacktestPage(report, views: Array(repeating: 0.5, count: 24)).html
    }
    #expect(html.contains("<svg"))
    #expect(html.contains("prefers-color-scheme: dark"))
    #expect(html.contains("&lt;b&gt;&amp;"))
    for loaded in ["http:", "https:", "<script", "src=", "url("] { #expect(!html.contains(loaded)) }
  }

  @Test("a view curve is the share of days with an unlock, by local hour")
  func views() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("views-\(UUID().uuidString).jsonl").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var lines = try LineWriter(path: path)
    for (time, kind) in [
      ("2017-03-01T05:34:31Z", "screen-on"), ("2017-03-01T06:00:00Z", "unlock"), ("2017-03-01T06:30:00Z", "unlock"),
      ("2017-03-02T06:10:00Z", "unlock"), ("2017-03-02T22:10:00Z", "unlock"), ("2017-03-02T22:11:00Z", "lock"),
    ] {
      try lines.append("{\"device\":\"p1\",\"time\":\"\(time)\",\"kind\":\"\(kind)\"}")
      try lines.endLine()
    }
    try lines.close()
    let curve = try ScreenEvents(path: path, zone: "Europe/Helsinki").curve
    #expect(curve.hourly[8] == 1)
    #expect(curve.hourly[0] == 0.5)
    #expect(curve.hourly.reduce(0, +) == 1.5)
    #expect(curve.days == 3)
  }
}
