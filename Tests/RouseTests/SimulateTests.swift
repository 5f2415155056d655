import JSON
import Testing

@Suite("rouse simulate")
struct SimulateTests {
  @Test("the table of strategies is printed without any file")
  func strategies() throws {
    let outcome = try Workplace().rouse("simulate", "--strategies")
    #expect(outcome.status == 0)
    #expect(outcome.out.contains("aggressive     144       48     10:55"))
    let json = try Workplace().rouse("simulate", "--strategies", "--format", "json")
    #expect(json.out.contains("\"strategy\":\"on demand\""))
  }

  @Test("policies, devices and events become a table and a page")
  func simulate() throws {
    let place = try Workplace()
    try place.put(Self.policy, "now.yaml")
    try place.put(Self.device, "devices.jsonl")
    try place.put((0..<30).map(Self.event).joined(), "events.jsonl")
    let outcome = try place.rouse(
      "simulate", "--policy", "now.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl", "--report",
      "report.html")
    #expect(outcome.status == 0, "\(outcome.err)")
    #expect(outcome.out.contains("Board: 1 instance, 1 instance-days, 30 visible changes a day"))
    #expect(outcome.lines.contains { $0.hasPrefix("now ") })
    #expect(outcome.lines.contains { $0.hasPrefix("GCRA, burst 4") })
    #expect(String(decoding: try place.bytes("report.html"), as: UTF8.self).hasPrefix("<!doctype html>"))
  }

  @Test("with signals and a device model, the table and the page report what the screens showed")
  func devices() throws {
    let place = try Workplace()
    try place.put(Self.policy, "now.yaml")
    try place.put(Self.device, "devices.jsonl")
    try place.put((0..<30).map(Self.event).joined(), "events.jsonl")
    try place.put(
      #"{"specversion":"1.0","id":"s","source":"/app","type":"rouse.signal.app.foregrounded","subject":"d","#
        + #""time":"2026-07-01T11:00:00Z"}"# + "\n", "signals.jsonl")
    let inputs = ["--policy", "now.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl"]
    let outcome = try place.rouse(
      list: ["simulate"] + inputs + [
        "--signals", "signals.jsonl", "--device-model", "apple", "--seed", "7", "--report", "report.html",
      ])
    #expect(outcome.status == 0, "\(outcome.err)")
    #expect(outcome.out.contains("1 signal, "))
    #expect(outcome.lines.contains { $0.hasPrefix("on the screen ") })
    #expect(outcome.out.contains("device model apple, seed 7"))
    #expect(outcome.out.contains("upper bound (Lagrangian)"))
    #expect(
      outcome.out.contains("now, over budget: instance 0, device 0, background 0, control 0, activity 0, start 0"))
    let page = String(decoding: try place.bytes("report.html"), as: UTF8.self)
    for part in ["On the screen", "Limits that instances share", "Surfaces", "Keeping a widget up to date"] {
      #expect(page.contains(part), "\(part)")
    }
    let json = try place.rouse(list: ["simulate"] + inputs + ["--device-model", "apple", "--format", "json"]).out
    for part in [#""deviceModel":{"name":"apple""#, #""pushesRefused":"#, #""upperBound":"#, #""neverTold":"#] {
      #expect(json.contains(part), "\(part)")
    }
    #expect(try place.rouse(list: ["simulate"] + inputs + ["--device-model", "pear"]).status == 2)
  }

  @Test("a screen event that cannot be read is named with its line")
  func views() throws {
    let place = try Workplace()
    try place.put(Self.policy, "now.yaml")
    try place.put(Self.device, "devices.jsonl")
    try place.put(Self.event(0), "events.jsonl")
    try place.put(
      "{\"device\":\"p\",\"time\":\"2017-03-01T05:00:00Z\",\"kind\":\"unlock\"}\n"
        + "{\"device\":\"p\",\"time\":\"2017-03-01T05:00:00Z\",\"kind\":\"glance\"}\n", "views.jsonl")
    let outcome = try place.rouse(
      "simulate", "--policy", "now.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl", "--views",
      "views.jsonl")
    #expect(outcome.status == 1)
    #expect(outcome.err.contains("views.jsonl:2: found kind \"glance\""))
  }

  @Test("--days writes every instance and day of every plan, with the wrong looks")
  func days() throws {
    let place = try Workplace()
    try place.put(Self.policy, "now.yaml")
    try place.put(Self.device, "devices.jsonl")
    try place.put((0..<30).map(Self.event).joined(), "events.jsonl")
    let outcome = try place.rouse(
      "simulate", "--policy", "now.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl", "--days",
      "days.jsonl", "--report", "report.html")
    #expect(outcome.status == 0, "\(outcome.err)")
    let days = try place.lines("days.jsonl")
    #expect(days.count == 7)
    #expect(days.allSatisfy { $0.contains(#""kind":"Board","device":"d","instance":"w","date":"2026-07-01""#) })
    #expect(days.contains { $0.hasPrefix(#"{"plan":"evenly by looks""#) })
    #expect(outcome.out.contains("wrong looks a day: "))
    let page = String(decoding: try place.bytes("report.html"), as: UTF8.self)
    for part in ["One day: w of d, 2026-07-01", "data.n: truth and shown", "how wrong the screen was"] {
      #expect(page.contains(part), "\(part)")
    }
  }

  @Test("recorded looks of kind view count at their own times, and plan takes them too")
  func recordedViews() throws {
    let place = try Workplace()
    try place.put(Self.policy, "now.yaml")
    try place.put(Self.device, "devices.jsonl")
    try place.put((0..<30).map(Self.event).joined(), "events.jsonl")
    let views = ["06:00:00", "12:00:00", "15:30:00"].map {
      #"{"device":"d","time":"2026-07-01T\#($0)Z","kind":"view"}"# + "\n"
    }
    // An unlock does not count beside a look that was recorded as such.
    let unlock = #"{"device":"d","time":"2026-07-01T13:00:00Z","kind":"unlock"}"# + "\n"
    try place.put(views.joined() + unlock, "views.jsonl")
    let inputs = ["--policy", "now.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl"]
    let simulated = try place.rouse(
      list: ["simulate"] + inputs + ["--views", "views.jsonl", "--days", "days.jsonl"])
    #expect(simulated.status == 0, "\(simulated.err)")
    #expect(try place.lines("days.jsonl").allSatisfy { $0.contains(#""looks":3,"#) })
    let without = try place.rouse(list: ["plan"] + inputs + ["--decisions", "without.jsonl"])
    let with = try place.rouse(
      list: ["plan"] + inputs + ["--views", "views.jsonl", "--decisions", "with.jsonl"])
    #expect(without.status == 0 && with.status == 0, "\(with.err)")
    #expect(try place.lines("with.jsonl") != place.lines("without.jsonl"))
    let wrong = try place.rouse(list: ["plan"] + inputs + ["--views", "views.jsonl", "--views-zone", "Mars"])
    #expect(wrong.status == 2)
    #expect(wrong.err.contains("--views-zone: found \"Mars\", expected an IANA zone"))
  }

  @Test("a store says the same of an objective as the simulation that made the same decisions")
  func objectives() throws {
    let place = try Workplace()
    try place.put(Self.policy + "\n    objective: { freshWithin: 20m, share: 0.9, wrongAtLeast: 0.1 }\n", "now.yaml")
    try place.put(Self.device, "devices.jsonl")
    try place.put((0..<30).map(Self.event).joined(), "events.jsonl")
    let inputs = ["--policy", "now.yaml", "--devices", "devices.jsonl", "--events", "events.jsonl"]
    let simulated = try JSONValue(parsing: place.rouse(list: ["simulate"] + inputs + ["--format", "json"]).out)
    #expect(try place.rouse(list: ["plan"] + inputs + ["--audit", "audit.sqlite"]).status == 0)
    let question = ["audit", "objectives", "--store", "audit.sqlite", "--policy", "now.yaml"]
    let devices = question + ["--devices", "devices.jsonl"]
    let asked = try JSONValue(parsing: place.rouse(list: devices + ["--format", "json"]).out)
    for figure in ["changes", "met", "possible", "instances", "instancesBound", "share", "freshWithinSeconds"] {
      let found = simulated["kinds"]?[0]?["plans"]?[0]?["objective"]?[figure]
      #expect(found != nil && asked["kinds"]?[0]?[figure] == found, "\(figure): \(found as Any)")
    }
    let text = try place.rouse(list: devices)
    #expect(text.lines.first?.hasPrefix("objective ") == true, "\(text.out)\(text.err)")
    #expect(text.lines.contains { $0.hasPrefix("Board ") && $0.contains("90.0 %") }, "\(text.out)")
    #expect(try place.rouse(list: question + ["--sample", "0"]).status == 2)
    let none = try place.rouse(list: devices + ["--sample", "0.0000001"])
    #expect(none.err.contains("try a larger --sample"))
    try place.put(Self.policy, "plain.yaml")
    let plain = try place.rouse("audit", "objectives", "--store", "audit.sqlite", "--policy", "plain.yaml")
    #expect(plain.status == 1 && plain.err.contains("plain.yaml: no kind has an objective"))
  }

  private static let policy = """
    version: "1"
    profile: apple-2026
    kinds:
      Board:
        surface: widget
        budget: { perDay: 8, minInterval: 5m }
        halfLife: 20m
        displays: [ { field: data.n } ]
        rules:
          - event: board.changed
            relevance: { base: 0.4 }
    """

  private static let device = """
    {"device":"d","app":"a.b","environment":"production","platform":"iOS","osVersion":"26.0","timeZone":"GMT",\
    "tokens":{"widgets":"abcd"},"widgets":[{"id":"w","kind":"Board","interests":["board/1"]}],\
    "updatedAt":"2026-07-01T00:00:00Z"}

    """

  private static func event(_ number: Int) -> String {
    let hour = 8 + number / 4
    return """
      {"specversion":"1.0","id":"e\(number)","source":"/s","type":"board.changed","subject":"board/1",\
      "time":"2026-07-01T\(hour < 10 ? "0" : "")\(hour):\(10 + number % 4 * 12):00Z","data":{"n":\(number)}}

      """
  }
}
