import Domain
import Foundation
import LineFiles
import Planning
import Policies
import Testing

@testable import Simulation

@Suite("Simulations")
struct SimulationRunTests {
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
            halfLife: 20m
            displays: [ { field: data.waitingFlights } ]
            rules:
              - on: airport.delays.changed
                relevance:
                  base: 0
                  add: [ { changeOf: data.waitingFlights, from: data.previousWaitingFlights, per: 10, weight: 1 } ]
        """, file: "policy"
    ).policy
  }

  /// The three airports of the project's sample day, one widget each, and one in developer mode.
  private func simulate<T>(_ perDay: [Int], _ body: (SimulationReport) throws -> T) throws -> T {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("simulate-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var lines = try LineWriter(path: "\(folder)/devices.jsonl")
    for (airport, developerMode) in [("EWR", false), ("JFK", false), ("LGA", false), ("EWR", true)] {
      try lines.append(
        """
        {"device":"\(airport)\(developerMode)","app":"a.b","environment":"production","platform":"iOS","osVersion":"26.0",\
        "timeZone":"America/New_York","developerMode":\(developerMode),"tokens":{"widgets":"abcd"},\
        "widgets":[{"id":"w","kind":"Airport","interests":["airport/\(airport)"]}],"updatedAt":"2013-03-08T00:00:00Z"}
        """)
      try lines.endLine()
    }
    try lines.close()
    return try body(
      try SimulationRun(
        SimulationOptions(
          candidates: try perDay.map {
            SimulationOptions.Candidate(name: "at-\($0)", policy: try Self.policy(perDay: $0))
          },
          devices: "\(folder)/devices.jsonl", events: "\(Self.resources)/flights-nyc-2013-03-08.jsonl.gz")
      ).run())
  }

  @Test("a day of airports: the price beats every baseline, nothing is overspent, no plan beats hindsight")
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
          #expect(plan.capturedMean > 0.75, "\(plan.name)")
          for rival in kind.plans where !rival.isPolicy && rival.tokens == plan.tokens {
            #expect(plan.capturedMean > rival.capturedMean, "\(plan.name) and \(rival.name)")
          }
        }
      }
    }
  }

  @Test("policies in one pass do not disturb each other, and a second run says the same")
  func lanes() throws {
    let both = try simulate([48, 20]) { $0 }
    let again = try simulate([48, 20]) { $0 }
    #expect(both == again)
    #expect(both.json == again.json)
    let alone = try simulate([20]) { $0 }
    #expect(alone.commands.first?.commands == both.commands.last?.commands)
    #expect(alone.kinds.first?.plans.first { $0.isPolicy } == both.kinds.first?.plans.last { $0.isPolicy })
  }

  @Test("the page loads nothing, has charts, is readable in light and dark, and escapes names")
  func page() throws {
    let html = try simulate([20]) { report in
      var report = report
      report.commands[0].name = "<b>&"
      return SimulationPage(report, views: Array(repeating: 0.5, count: 24)).html
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
    let curve = try ViewCurve(path: path, zone: "Europe/Helsinki")
    #expect(curve.hourly[8] == 1)
    #expect(curve.hourly[0] == 0.5)
    #expect(curve.hourly.reduce(0, +) == 1.5)
    #expect(curve.days == 3)
  }
}
