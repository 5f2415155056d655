import Foundation
import JSON
import Testing

/// Compares `rouse simulate` with a second computation in Python, which shares no code with it.
@Suite("Wrong looks, computed twice")
struct WrongLooksTests {
  private static let python = URL(fileURLWithPath: "/usr/bin/python3")
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Reference/wrong_looks.py")
  private static let events = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Sources/rouse/Resources/flights-nyc-2013-03-08.jsonl.gz")

  /// A policy as JSON, which is YAML too. Both computations read it.
  private static let policy = """
    {
      "version": "1",
      "limits": { "devicePushes": { "limit": "unlimited" }, "backgroundPushes": { "limit": "unlimited" } },
      "kinds": {
        "Airport": {
          "surface": "widget", "halfLife": "45m",
          "budget": { "perDay": 12, "minInterval": "5m", "dayStart": "04:00" },
          "views": \(views),
          "displays": [
            { "field": "data.waitingFlights", "per": 10, "weight": 0.8, "initial": 0 },
            { "field": "data.medianOverdueMinutes", "round": 15, "per": 60, "weight": 0.3 }
          ],
          "rules": [
            {
              "event": "airport.delays.changed", "relevance": { "base": 0.1, "add": [
                { "changeOf": "data.waitingFlights", "from": "data.previousWaitingFlights", "per": 10, "weight": 0.8 }
              ] }
            }
          ]
        },
        "Board": {
          "surface": "widget", "halfLife": "45m",
          "budget": { "perDay": 6, "minInterval": "10m", "dayStart": "04:00" },
          "views": \(views),
          "displays": [
            { "field": "data.status", "weight": 0.01, "initial": "delayed",
              "weights": { "departed": 0.3, "cancelled": 1, "diverted": 1 } },
            { "field": "data.delayMinutes", "round": 15, "per": "50%", "weight": 0.5, "initial": 0 }
          ],
          "rules": [
            {
              "event": "flight.*", "interests": ["board/{data.flight|prefix:2|lower}@{data.origin}"],
              "when": [
                { "field": "data.status", "in": ["delayed", "departed", "cancelled"] },
                { "field": "data.delayMinutes", "changed": "data.previousDelayMinutes" }
              ],
              "relevance": { "base": 0.4 }
            },
            {
              "event": "flight.cancelled", "interests": ["board/{data.flight|prefix:2|lower}@{data.origin}"],
              "when": { "field": "data.destination", "is": "BOS" }, "relevance": { "base": 0.8 }
            }
          ]
        },
        "Feed": {
          "surface": "widget", "halfLife": "45m",
          "budget": { "perDay": 4, "minInterval": "5m", "dayStart": "00:30" },
          "views": \(views),
          "rules": [
            {
              "event": "flight.cancelled", "interests": ["{subject|split:/:1}/{data.origin}"],
              "relevance": { "base": 0.3 }
            }
          ]
        }
      }
    }
    """

  private static let views =
    "[0.57, 0.21, 0.07, 0.04, 0, 0.04, 0, 0.18, 0.39, 0.43, 0.54, 0.75, 0.71, 0.68, 0.64, 0.86, 0.71, 1, 1, 0.89, 0.79, 0.71, 0.71, 0.61]"

  private static func device(_ name: String, _ kind: String, _ interest: String, zone: String) -> String {
    let token = "ab" + name.utf8.map { String($0, radix: 16) }.joined()
    return """
      {"device":"\(name)","app":"a.b","environment":"production","platform":"iOS","osVersion":"26.0","timeZone":"\(zone)",\
      "tokens":{"widgets":"\(token)"},"widgets":[{"id":"w","kind":"\(kind)","interests":["\(interest)"]}],\
      "updatedAt":"2013-03-01T00:00:00Z"}

      """
  }

  /// The days of an output by device and date.
  private static func days(_ lines: [String]) throws -> [String: JSONValue] {
    var days: [String: JSONValue] = [:]
    for line in lines {
      let row = try JSONValue(parsing: line)
      guard case .string(let device)? = row["device"], case .string(let date)? = row["date"] else { continue }
      days["\(device) \(date)"] = row
    }
    return days
  }

  private static func number(_ row: JSONValue?, _ name: String) -> Double? {
    if case .number(let number)? = row?[name] { number } else { nil }
  }

  @Test(
    "simulate and a script in another language agree on cost and optimum within 0.002",
    .enabled(if: FileManager.default.isExecutableFile(atPath: python.path), "needs python3"))
  func agree() throws {
    let place = try Workplace()
    try place.put(Self.policy, "policy.json")
    try place.put(
      Self.device("ewr", "Airport", "airport/EWR", zone: "America/New_York")
        + Self.device("lga", "Airport", "airport/LGA", zone: "Europe/Berlin")
        + Self.device("us", "Board", "board/us@LGA", zone: "America/New_York")
        + Self.device("mq", "Board", "board/mq@JFK", zone: "America/Los_Angeles")
        + Self.device("feed", "Feed", "flight/EWR", zone: "America/New_York"), "devices.jsonl")
    let inputs = ["--policy", "policy.json", "--devices", "devices.jsonl", "--events", Self.events.path]
    let plan = try place.rouse(list: ["plan"] + inputs + ["--commands", "commands.jsonl"])
    #expect(plan.status == 0, "\(plan.err)")
    let simulated = try place.rouse(list: ["simulate"] + inputs + ["--no-baselines", "--days", "days.jsonl"])
    #expect(simulated.status == 0, "\(simulated.err)")
    let computed = try place.run(
      Self.python, ["-B", Self.script.path, "policy.json", "devices.jsonl", Self.events.path, "commands.jsonl"])
    #expect(computed.status == 0, "\(computed.err)")
    let ours = try Self.days(try place.lines("days.jsonl"))
    let second = try Self.days(computed.lines)
    #expect(ours.count >= 6)
    #expect(ours.keys.sorted() == second.keys.sorted())
    for (day, row) in second {
      for name in ["changes", "reloads"] {
        #expect(Self.number(ours[day], name) == Self.number(row, name), "\(day), \(name)")
      }
      for name in ["wrongLooks", "wrongLooksWithout", "wrongLooksOptimum", "wrongLooksCaptured"] {
        let (one, two) = (Self.number(ours[day], name), Self.number(row, name))
        #expect((one == nil) == (two == nil), "\(day), \(name)")
        if let one, let two { #expect(abs(one - two) < 0.002, "\(day), \(name): \(one) and \(two)") }
      }
    }
  }
}
