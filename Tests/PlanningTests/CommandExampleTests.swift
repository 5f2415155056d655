import Domain
import Foundation
import JSON
import Policies
import Testing

@testable import Planning

/// The examples of commands that `schemas/examples/command/valid` has for each surface and event: commands of a planner, which keep the rules
/// of Apple's pages. With `ROUSE_TEST_WRITE_FIXTURES=1` the test writes them.
@Suite("Examples of commands") struct CommandExampleTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "schemas/examples/command/valid")
  private static let writes = ProcessInfo.processInfo.environment["ROUSE_TEST_WRITE_FIXTURES"] != nil

  @Test("there is one for each surface and event, as a planner makes it")
  func examples() throws {
    for (name, command) in try Story.commands() {
      var json = JSONWriter()
      command.encode(to: &json)
      let file = Self.folder.appending(path: "\(name).json")
      if Self.writes { try (json.indentedText + "\n").write(to: file, atomically: true, encoding: .utf8) }
      let written = try JSONValue(parsing: String(contentsOf: file, encoding: .utf8))
      #expect(try written == JSONValue(parsing: json.text), "\(name)")
    }
  }

  @Test("each keeps the rules of Apple's pages", arguments: try Story.commands().map(\.name))
  func rules(name: String) throws {
    let command = try #require(try Story.commands().first { $0.name == name }?.command)
    var check = RequestCheck(command)
    check.run()
    #expect(check.faults.isEmpty, "\(name)")
  }

  @Test("a start asks for a token from iOS 18 on, or names its channel")
  func asks() throws {
    let aps = Dictionary(
      uniqueKeysWithValues: try Story.commands().map { name, command in
        (name, try JSONValue(parsing: command.apns.payload)["aps"])
      })
    #expect(aps["start-ios-17"]??["input-push-token"] == nil)
    #expect(aps["start-ios-18"]??["input-push-token"] == .number(1))
    #expect(aps["start-on-channel"]??["input-push-channel"] == .string("dHN0LXNyY2gtY2hubA=="))
    #expect(aps["start-on-channel"]??["input-push-token"] == nil)
  }

  @Test("the check finds what Apple's pages forbid")
  func finds() throws {
    let start = try #require(try Story.commands().first { $0.name == "start-ios-18" }?.command)
    var wrong = start
    wrong.apns.headers.removeAll { $0.name == "apns-topic" }
    wrong.apns.payload = wrong.apns.payload.replacing(#""alert""#, with: #""alarm""#)
    var check = RequestCheck(wrong)
    check.run()
    #expect(
      check.faults == ["apns-topic is none", "alarm is no key of aps", "a start without title and body of an alert"])
  }
}

/// A day on which each kind of push goes out.
private enum Story {
  private static let policy = """
    version: 2026-11-28.1
    profile: apple-2026
    quietHours: { from: "22:00", to: "07:00", exceptRelevance: 1 }
    kinds:
      FlightStatus:
        surface: widget
        budget: { perDay: 48, minInterval: 0s }
        displays: [{ field: data.status }]
        rules: [{ event: flight.*, relevance: { base: 0.9 } }]
      Gate:
        surface: control
        budget: { perDay: 48, minInterval: 0s }
        displays: [{ field: data.status }]
        rules: [{ event: flight.*, relevance: { base: 0.9 } }]
      FlightActivity:
        surface: liveActivity
        displays: [{ field: data.status }]
        rules:
          - { event: flight.boarding, action: start, relevance: { base: 0.9 } }
          - { event: flight.departed, action: end, relevance: { base: 0.9 } }
          - { event: flight.*, relevance: { base: 0.9 } }
        activity:
          attributesType: FlightAttributes
          attributes: { flight: { field: data.flight, required: true } }
          contentState: { status: { field: data.status, required: true }, departs: { date: data.departs } }
          alert:
            title: "Flight {data.flight}"
            body: { locKey: FLIGHT_STATUS, locArgs: ["{data.status}"] }
            sound: default
            aboveRelevance: 0.8
          staleAfter: 15m
          dismissal: { after: 30m }
      Match:
        surface: broadcast
        rules:
          - { event: match.begun, action: start, relevance: { base: 0.9 } }
          - { event: match.ended, action: end, relevance: { base: 0.9 } }
          - { event: match.*, relevance: { base: 0.9 } }
        activity:
          attributesType: MatchAttributes
          attributes: { match: "{subject}", channel: { field: data.channel, required: true } }
          channel: "{data.channel}"
          contentState: { home: { field: data.home, default: 0 }, away: { field: data.away, default: 0 } }
          alert: { title: Kick-off, body: "{subject}" }
          channelStoresNewest: true
    """

  /// Returns a command of each surface and event, with the name of its example.
  static func commands() throws -> [(name: String, command: Command)] {
    var harness = PlannerHarness(try PolicyDocument(yaml: policy, file: "policy.yaml").policy)
    var found: [(name: String, command: Command)] = []
    let start = PlannerHarness.noon
    func phone(_ device: Identifier, os: (UInt16, UInt16), _ change: (inout Registration) -> Void) {
      var registration = Registration(
        device: device, app: "com.example.travel", environment: .production, platform: "iOS",
        osVersion: OSVersion(major: os.0, minor: os.1), timeZone: "Europe/Berlin",
        updatedAt: Timestamp(microseconds: start))
      change(&registration)
      harness.register(registration, at: start)
      for channel in registration.channels() { harness.register(channel, at: start) }
    }
    func starts(_ kind: Identifier, _ token: String, _ subject: Identifier) -> [Registration.PushToStart] {
      [Registration.PushToStart(kind: kind, token: token, interests: [subject])]
    }
    func activity(_ kind: Identifier, _ address: PushTarget, _ subject: Identifier) -> [Registration.Activity] {
      [
        Registration.Activity(
          id: "activity-1", kind: kind, address: address, interests: [subject],
          startedAt: Timestamp(microseconds: start - PlannerHarness.minute))
      ]
    }
    func event(
      _ type: Identifier, _ subject: Identifier, _ data: [(String, FieldValue)], at minutes: Int64, _ names: [String]
    ) {
      let time = start + minutes * PlannerHarness.minute
      harness.event(
        DomainEvent(
          id: Identifier("\(type)-\(minutes)"), source: "/operations", type: type, subject: subject,
          time: Timestamp(microseconds: time),
          fields: data.map { EventField(path: Identifier("data.\($0.0)"), value: $0.1) }), at: time)
      precondition(names.count == harness.lastCommands.count, "\(type) leads to other commands than \(names)")
      for (name, command) in zip(names, harness.lastCommands) { found.append((name, command)) }
    }
    phone("phone-1", os: (26, 1)) {
      $0.tokens = Registration.Tokens(widgets: String(repeating: "a1", count: 32))
      $0.widgets = [.flight(interests: ["flight/UA1"])]
    }
    phone("phone-2", os: (18, 5)) {
      $0.tokens = Registration.Tokens(background: String(repeating: "b2", count: 32))
      $0.widgets = [.flight(interests: ["flight/UA2"])]
    }
    phone("phone-3", os: (18, 0)) {
      $0.controls = [
        Registration.Control(
          id: "gate-1", kind: "Gate", token: String(repeating: "c3", count: 32), interests: ["flight/UA3"])
      ]
    }
    phone("phone-4", os: (17, 6)) {
      $0.pushToStart = starts("FlightActivity", String(repeating: "d4", count: 32), "flight/UA4")
    }
    phone("phone-5", os: (18, 1)) {
      $0.pushToStart = starts("FlightActivity", String(repeating: "d5", count: 32), "flight/UA5")
    }
    phone("phone-6", os: (26, 1)) { $0.pushToStart = starts("Match", String(repeating: "d6", count: 32), "match/1") }
    phone("phone-7", os: (26, 1)) {
      $0.activities = activity("FlightActivity", .token(String(repeating: "e7", count: 80)), "flight/UA7")
    }
    phone("phone-8", os: (26, 1)) { $0.activities = activity("Match", .channel("dHN0LXNyY2gtY2hubA=="), "match/2") }
    let boarding: [(String, FieldValue)] = [
      ("departs", .string("2026-07-01T15:30:00Z")), ("flight", .string("UA1545")), ("status", .string("boarding")),
    ]
    event("flight.gate.changed", "flight/UA1", boarding, at: 1, ["widget"])
    event("flight.gate.changed", "flight/UA2", boarding, at: 2, ["background"])
    event("flight.gate.changed", "flight/UA3", boarding, at: 3, ["control"])
    event("flight.boarding", "flight/UA4", boarding, at: 4, ["start-ios-17"])
    event("flight.boarding", "flight/UA5", boarding, at: 5, ["start-ios-18"])
    event("match.begun", "match/1", [("channel", .string("dHN0LXNyY2gtY2hubA=="))], at: 6, ["start-on-channel"])
    event("flight.boarding", "flight/UA7", boarding, at: 7, ["update-priority-10"])
    for minute in 8...9 as ClosedRange<Int64> {
      event("flight.gate.changed", "flight/UA7", [("status", .string("gate \(minute)"))], at: minute, ["spare"])
    }
    event("flight.delayed", "flight/UA7", [("status", .string("delayed"))], at: 10, ["update-priority-5"])
    event("flight.departed", "flight/UA7", [("status", .string("departed"))], at: 11, ["end"])
    event("match.goal", "match/2", [("home", .number(1))], at: 12, ["broadcast-update"])
    event("match.ended", "match/2", [], at: 13, ["broadcast-end"])
    return found.filter { $0.name != "spare" }
  }
}

/// Compares a command with the rules of Apple's pages. Sources: "Updating widgets with WidgetKit push notifications", "Updating controls locally
/// and remotely", "Pushing background updates to your App", "Starting and updating Live Activities with ActivityKit push notifications",
/// "Sending broadcast push notification requests to APNs", "Sending notification requests to APNs".
private struct RequestCheck {
  private let command: Command
  private let headers: [Identifier: String]
  private let payload: JSONValue?
  private(set) var faults: [String] = []

  init(_ command: Command) {
    self.command = command
    headers = Dictionary(command.apns.headers.map { ($0.name, $0.value) }) { first, _ in first }
    payload = try? JSONValue(parsing: command.apns.payload)
  }

  mutating func run() {
    require(command.apns.headers.map(\.name) == headers.keys.sorted(), "headers are sorted, and none is there twice")
    var id = headers["apns-id"]
    if case .channel(let channel) = command.apns.address {
      id = headers["apns-request-id"]
      require(headers["apns-channel-id"] == channel.text, "apns-channel-id is the channel")
      require(Data(base64Encoded: channel.text) != nil, "a channel is in Base64")
    } else if case .token(let token) = command.apns.address {
      require(
        !token.isEmpty && token.allSatisfy { $0.isHexDigit && !$0.isUppercase }, "a token is in hexadecimal digits")
    }
    require(
      id.map { UUID(uuidString: $0)?.uuidString.lowercased() == $0 } == true,
      "the id of the request is a UUID in small letters")
    let isBroadcast = command.surface == .broadcast
    require(command.apns.payload.utf8.count <= (isBroadcast ? 5120 : 4096), "the body is small enough")
    switch headers["apns-push-type"] {
    case "widgets":
      header("apns-topic", "\(command.app).push-type.widgets")
      // Apple's sample has neither.
      header("apns-priority", nil)
      header("apns-expiration", nil)
      require(payload == Self.json(#"{"aps":{"content-changed":true}}"#), "the body is that of a widget push")
    case "controls":
      header("apns-topic", "\(command.app).push-type.controls")
      header("apns-priority", "10")
      header("apns-expiration", "0")
      require(payload == Self.json(#"{"aps":{"content-changed":true}}"#), "the body is that of a control push")
    case "background":
      header("apns-topic", command.app.text)
      header("apns-priority", "5")
      require(
        payload?["aps"] == Self.json(#"{"content-available":1}"#),
        "aps of a background push has content-available alone")
    case "liveactivity": activity(isBroadcast)
    default: faults.append("apns-push-type is \(headers["apns-push-type"] ?? "none")")
    }
  }

  private mutating func activity(_ isBroadcast: Bool) {
    header("apns-topic", isBroadcast ? nil : "\(command.app).push-type.liveactivity")
    require(["5", "10"].contains(headers["apns-priority"]), "a Live Activity push has priority 5 or 10")
    let second = command.at.microseconds / 1_000_000
    let expiry = headers["apns-expiration"].flatMap { Int64($0) } ?? -1
    require(expiry > second && expiry <= second + 12 * 3600, "apns-expiration is in the next hours")
    guard case .object(let members)? = payload?["aps"], let aps = payload?["aps"] else {
      return faults.append("no aps")
    }
    let keys: Set = [
      "timestamp", "event", "content-state", "stale-date", "dismissal-date", "relevance-score", "attributes-type",
      "attributes", "input-push-token", "input-push-channel", "alert",
    ]
    for (key, _) in members where !keys.contains(key) { faults.append("\(key) is no key of aps") }
    func number(_ key: String) -> Double? { if case .number(let number)? = aps[key] { number } else { nil } }
    guard case .string(let event)? = aps["event"] else { return faults.append("no event") }
    require(number("timestamp").map { abs($0 - Double(second)) <= 60 } == true, "timestamp is the second of the push")
    require(number("stale-date").map { $0 > Double(second) } != false, "stale-date is in the future")
    require(event == "end" || aps["dismissal-date"] == nil, "dismissal-date is for an end")
    require(
      number("dismissal-date").map { $0 <= Double(second) + 4 * 3600 } != false, "dismissal-date is within four hours")
    require(isObject(aps["content-state"]), "content-state is an object")
    let alertIsWhole = isText(aps["alert"]?["title"]) && isText(aps["alert"]?["body"])
    if event == "start" {
      require(!isBroadcast, "a channel starts nothing")
      require(headers["apns-priority"] == "10", "a start has priority 10")
      if !alertIsWhole { faults.append("a start without title and body of an alert") }
      require(isText(aps["attributes-type"]) && isObject(aps["attributes"]), "a start has attributes and their type")
      require(aps["input-push-token"] == nil || aps["input-push-channel"] == nil, "a start asks for one thing")
    } else {
      require(event == "update" || event == "end", "an event is start, update or end")
      require(aps["alert"] == nil || alertIsWhole, "an alert has title and body")
      for key in ["attributes-type", "attributes", "input-push-token", "input-push-channel"] {
        require(aps[key] == nil, "\(key) is for a start")
      }
    }
    require(aps["alert"] == nil || headers["apns-priority"] == "10", "an alert goes at priority 10")
    require(bytes(aps["attributes"]) + bytes(aps["content-state"]) <= 4096, "the data of an activity is small enough")
  }

  private mutating func require(_ holds: Bool, _ rule: String) { if !holds { faults.append("not: \(rule)") } }

  private mutating func header(_ name: Identifier, _ value: String?) {
    if headers[name] != value { faults.append("\(name) is \(headers[name] ?? "none")") }
  }

  private static func json(_ text: String) -> JSONValue? { try? JSONValue(parsing: text) }

  private func isObject(_ value: JSONValue?) -> Bool { if case .object? = value { true } else { false } }

  /// Whether a value is a text that is not empty, or the name of a localized one.
  private func isText(_ value: JSONValue?) -> Bool {
    switch value {
    case .string(let text): !text.isEmpty
    case .object: value.map { $0["loc-key"] != nil } == true
    default: false
    }
  }

  private func bytes(_ value: JSONValue?) -> Int {
    guard let value else { return 0 }
    var json = JSONWriter()
    json.value(value)
    return json.bytes.count
  }
}
