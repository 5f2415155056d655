import Domain
import Foundation
import LineFiles
import Policies
import Testing

@testable import Backtesting
@testable import Replay

@Suite("Surfaces other than widgets in a backtest")
struct SurfaceTests {
  private static let policy = """
    version: "1"
    profile: apple-2026
    kinds:
      Score:
        surface: widget
        budget: { perDay: 48, minInterval: 5m }
        halfLife: 20m
        displays: [ { field: data.score } ]
        rules: [ { event: match.*, relevance: { base: 0.6 } } ]
      Door:
        surface: control
        budget: { perDay: 60, minInterval: 1m }
        halfLife: 5m
        rules: [ { event: door.changed, relevance: { base: 0.7 } } ]
      Match:
        surface: liveActivity
        activity:
          attributesType: MatchAttributes
          attributes: { match: "{subject}" }
          contentState: { score: "{data.score}" }
          alert: { title: Match, body: "{data.score}", aboveRelevance: 0.8 }
          quietEnd: 45m
        halfLife: 5m
        rules:
          - { event: match.started, action: start, relevance: { base: 1 } }
          - { event: match.final, action: end, relevance: { base: 1 } }
          - { event: match.goal, relevance: { base: 0.9 } }
          - { event: match.*, relevance: { base: 0.1 } }
      Stadium:
        surface: broadcast
        activity:
          contentState: { score: "{data.score}" }
          quietEnd: 45m
          channelStoresNewest: true
        halfLife: 5m
        rules: [ { event: match.goal, relevance: { base: 1 } } ]

    """

  private static func device(_ name: String, _ parts: String) -> String {
    #"{"device":"\#(name)","app":"a.b","environment":"production","platform":"iOS","osVersion":"26.1","timeZone":"GMT","#
      + parts + #","updatedAt":"2026-07-01T00:00:00Z"}"#
  }

  private static let devices = [
    device(
      "phone",
      #""tokens":{"widgets":"ab"},"pushToStart":[{"kind":"Match","token":"cd","interests":["match/1"]}],"#
        + #""widgets":[{"id":"w","kind":"Score","interests":["match/1"]}],"#
        + #""controls":[{"id":"c","kind":"Door","token":"ef","interests":["door/1"]}]"#),
    device(
      "old", #""tokens":{"background":"ac"},"widgets":[{"id":"w","kind":"Score","interests":["match/1"]}]"#),
    device(
      "fan",
      #""tokens":{},"activities":[{"id":"a","kind":"Stadium","channel":"dHN0LXNyY2gtY2hubA==","interests":["match/1"],"#
        + #""startedAt":"2026-07-01T11:00:00Z"}]"#),
  ]

  private static func event(_ type: String, _ subject: String, _ minute: Int, _ score: Int) -> String {
    let clock = "\(12 + minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60)"
    return #"{"specversion":"1.0","id":"\#(type)\#(minute)","source":"/s","type":"\#(type)","subject":"\#(subject)","#
      + #""time":"2026-07-01T\#(clock):00Z","data":{"score":\#(score)}}"#
  }

  /// A match of a hundred minutes with a clock and five goals, and a door that moves every ten minutes.
  private static let events: [String] = {
    var events = [event("match.started", "match/1", 0, 0)]
    for minute in 1..<100 {
      if minute % 20 == 7 { events.append(event("match.goal", "match/1", minute, minute / 20 + 1)) }
      if minute % 10 == 3 { events.append(event("door.changed", "door/1", minute, minute)) }
      events.append(event("match.clock", "match/1", minute, minute / 20))
    }
    return events + [event("match.final", "match/1", 100, 5)]
  }()

  private func simulate(
    _ model: DeviceModel, _ extra: String = "", devices: [String] = Self.devices,
    events: [String] = Self.events
  ) throws -> BacktestReport {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("surfaces-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, lines) in [("devices", devices), ("events", events)] {
      var writer = try LineWriter(path: "\(folder)/\(name).jsonl")
      for line in lines {
        try writer.append(line)
        try writer.endLine()
      }
      try writer.close()
    }
    var options = BacktestOptions(
      candidates: [
        BacktestOptions.Candidate(
          name: "now", policy: try PolicyDocument(yaml: Self.policy + extra, file: "policy").policy)
      ], devices: "\(folder)/devices.jsonl", events: "\(folder)/events.jsonl")
    options.deviceModel = model
    return try BacktestRun(options).run()
  }

  private func counts(_ surface: Surface, in report: BacktestReport) throws -> BacktestReport.SurfaceCounts {
    try #require(report.commands[0].surfaces.first { $0.surface == surface }, "\(surface.rawValue)")
  }

  @Test("a reload that a push only charged shows an event that joins the push at its log time, so it is not wasted")
  func joined() throws {
    let phone = Self.device(
      "phone",
      #""tokens":{"widgets":"ab"},"widgets":[{"id":"w","kind":"Score","interests":["match/1"]},"#
        + #"{"id":"x","kind":"Score","interests":["match/2"]}]"#)
    let events = [Self.event("match.goal", "match/1", 7, 1), Self.event("match.corner", "match/2", 7, 1)]
    for count in 1...2 {
      let report = try simulate(DeviceModel(), devices: [phone], events: Array(events.prefix(count)))
      let widget = try counts(.widget, in: report)
      #expect(widget.commands == 1 && widget.reloads == 2)
      #expect(widget.reloadsWasted == 2 - count)
    }
  }

  @Test("an activity that was started by push registers, is updated at both priorities, and is ended")
  func activity() throws {
    let report = try simulate(DeviceModel())
    #expect(report.deadLetters == 0, "\(String(describing: report.firstDeadLetter))")
    let activity = try counts(.liveActivity, in: report)
    #expect(activity.starts == 1)
    #expect(activity.ends == 1)
    #expect(activity.updates >= 5)
    #expect(activity.priority5 > 0)
    #expect(activity.priority10 >= 2)
    #expect(activity.commands == activity.starts + activity.updates + activity.ends)
    #expect(activity.commands == activity.priority10 + activity.priority5)
    #expect(report.commands[0].activityFates.isEmpty)
  }

  @Test(
    "devices of the model lose tokens and pushes, and people remove activities; the recount still finds nothing overspent"
  )
  func fates() throws {
    var sum = ModelledActivities.Fates()
    for seed in 1...40 as ClosedRange<UInt64> {
      let commands = try simulate(DeviceModel(.apple, seed: seed)).commands[0]
      let fates = commands.activities
      sum.withoutToken += fates.withoutToken
      sum.removed += fates.removed
      sum.refused += fates.refused
      #expect(commands.ledgers.allSatisfy { $0.over == 0 })
      #expect(fates.withoutToken <= 1 && fates.removed <= 1 && fates.notShown == 0, "one start")
      if fates.withoutToken == 1, fates.refused == 0 {
        let activity = try #require(commands.surfaces.first { $0.surface == .liveActivity })
        #expect(activity.updates + activity.ends == 0, "nothing can be sent to it")
      }
    }
    #expect((1...39).contains(sum.withoutToken))
    #expect((1...10).contains(sum.removed))
    #expect((1...30).contains(sum.refused))
  }

  /// Returns the fates that the model of a seed draws for starts of one match.
  /// - Parameters:
  ///   - starts: The devices, and the minutes of the starts.
  ///   - prefix: The beginning of the ids of the commands.
  private func courses(
    seed: UInt64, _ starts: [(device: Identifier, minute: Int)], prefix: String = "c"
  ) -> [ModelledActivities.Course] {
    let model = DeviceModel(.apple, seed: seed)
    var courses = ActivityCourses(model, looks: LookModel(model, screens: nil, curve: KindPolicy.defaultViews))
    return starts.enumerated().map { number, start in
      let at = Timestamp(microseconds: Int64(start.minute) * 60_000_000)
      return courses.course(
        of: Command(
          command: Identifier("\(prefix)\(number)"), device: start.device, app: "a.b", environment: .production,
          surface: .liveActivity, serves: [], charged: [],
          apns: Command.APNs(address: .token("ab"), headers: [], payload: "{}"), at: at, expires: at,
          policy: PolicyReference(version: "1", hash: "0"), subject: "match/1"),
        zone: "GMT")
    }
  }

  @Test(
    "after a refused start the app registers another token when it is opened, however late; draws depend on no id of a command"
  )
  func refusedStarts() {
    let starts = (0..<2_000).map { (device: Identifier("d\($0)"), minute: $0) }
    let drawn = courses(seed: 2, starts)
    #expect(courses(seed: 2, starts, prefix: "x") == drawn)
    let refused = drawn.filter { !$0.isTaken }
    #expect((5...40).contains(refused.count))
    #expect(refused.allSatisfy { $0.token != nil })
    #expect(refused.contains { $0.token ?? .zero > ModelledActivities.life })
  }

  @Test("a device shows ten starts a day")
  func startsShown() {
    let drawn = courses(seed: 1, (0..<48).map { (device: "d", minute: 60 * $0) })
    let shown = drawn.indices.filter { drawn[$0].isTaken && drawn[$0].isShown }
    #expect(shown.count == 20)
    for hour in shown { #expect(shown.count { (hour..<hour + 24).contains($0) } <= 10) }
  }

  @Test(
    "a channel gets one command for each event, a control is measured like a widget, an old OS gets background pushes")
  func others() throws {
    let report = try simulate(DeviceModel())
    #expect(try counts(.broadcast, in: report).updates == 5)
    #expect(try counts(.control, in: report).told == 10)
    #expect(try counts(.background, in: report).commands > 0)
    #expect(report.kinds.map(\.name) == ["Door", "Score"])
    #expect(report.kinds[1].instances == 2)
  }

  @Test("a device in developer mode does not change the counts by surface")
  func developer() throws {
    let developer = Self.device(
      "lab",
      #""developerMode":true,"tokens":{"widgets":"ba"},"pushToStart":[{"kind":"Match","token":"dc","interests":["match/1"]}],"#
        + #""widgets":[{"id":"w","kind":"Score","interests":["match/1"]}]"#)
    let report = try simulate(DeviceModel(), devices: Self.devices + [developer])
    let without = try simulate(DeviceModel())
    #expect(report.commands[0].commands > without.commands[0].commands)
    #expect(report.commands[0].surfaces == without.commands[0].surfaces)
    #expect(report.kinds == without.kinds)
  }

  @Test("the recount names each ledger with a limit and finds none overspent")
  func ledgers() throws {
    let report = try simulate(DeviceModel(), "apps: { a.b: { perDay: 60 } }\n")
    #expect(
      report.commands[0].ledgers.map(\.ledger) == [.instance, .device, .background, .control, .activity, .start, .app])
    #expect(report.commands[0].ledgers.allSatisfy { $0.over == 0 })
    #expect(report.shared.count == 1)
    #expect(report.shared[0].shown <= report.shared[0].upperBound)
    #expect(report.shared[0].upperBound <= report.shared[0].sumOfOptima + 1e-6)
  }

  @Test("a push to a Live Activity is refunded although others went to the device since, the same one once")
  func recountOfActivities() throws {
    let policy = try PolicyDocument(
      yaml: Self.policy + "limits: { activityPushes: { limit: 1, window: 1h, burst: 1 } }\n", file: "policy"
    ).policy
    func command(_ number: Int, minute: Int64, _ activity: Identifier) -> Command {
      Command(
        command: "c\(number)", device: "d", app: "a.b", environment: .production, surface: .liveActivity,
        serves: [Command.Served(instance: activity, kind: "Match", events: [], reason: .emitted)],
        charged: [Command.Charge(ledger: .activity, owner: activity, left: 0)],
        apns: Command.APNs(address: .token("ab"), headers: [], payload: "{}"),
        at: Timestamp(microseconds: minute * 60_000_000), expires: Timestamp(microseconds: 0), policy: policy.reference)
    }
    var recount = LedgerRecount(policy)
    recount.count(command(1, minute: 0, "a"))
    recount.count(command(2, minute: 0, "b"))
    let first = recount.refund("c1", device: "d")
    #expect(first)
    recount.count(command(3, minute: 1, "a"))
    #expect(recount.over[.activity] == nil)
    let second = recount.refund("c1", device: "d")
    #expect(!second)
    recount.count(command(4, minute: 2, "b"))
    #expect(recount.over[.activity] == 1)
    let older = recount.refund("c2", device: "d")
    #expect(!older, "a newer one went to the activity")
  }

  @Test("the recount finds commands beyond a rate and beyond an app's number, and refunds a refused command")
  func recount() throws {
    let policy = try PolicyDocument(
      yaml: Self.policy + "apps: { a.b: { perDay: 3 } }\n", file: "policy"
    ).policy
    func command(_ number: Int, minute: Int64) -> Command {
      Command(
        command: "c\(number)", device: "d", app: "a.b", environment: .production, surface: .widget, serves: [],
        charged: [
          Command.Charge(ledger: .device, owner: "d", left: 0), Command.Charge(ledger: .app, owner: "a.b", left: 0),
        ], apns: Command.APNs(address: .token("ab"), headers: [], payload: "{}"),
        at: Timestamp(microseconds: minute * 60_000_000), expires: Timestamp(microseconds: 0), policy: policy.reference)
    }
    var recount = LedgerRecount(policy)
    // The rate allows a burst of three, then one push every twelve minutes.
    for number in 0..<3 { recount.count(command(number, minute: 0)) }
    #expect(recount.over.isEmpty)
    var refused = recount
    let first = refused.refund("c2", device: "d")
    let second = refused.refund("c2", device: "d")
    #expect(first && !second)
    refused.count(command(3, minute: 1))
    #expect(refused.over.isEmpty)
    recount.count(command(3, minute: 11))
    #expect(recount.over == [.device: 1, .app: 1])
  }
}
