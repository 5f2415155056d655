import Domain
import Foundation
import JSON
import LineFiles
import Testing

@testable import Replay

@Suite("Made-up fleets")
struct FleetTests {
  /// Returns the line of an event about a subject on 1 July 2013.
  private func event(_ subject: String, minute: Int = 0) -> String {
    let time =
      "2013-07-01T\(minute / 60 < 10 ? "0" : "")\(minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60):00Z"
    return
      #"{"specversion":"1.0","id":"\#(minute)","source":"/t","type":"t","subject":"\#(subject)","time":"\#(time)"}"#
  }

  /// The events of 200 flights, 3 airports and 3 weather stations.
  private var flightLines: [String] {
    (0..<200).map { event("flight/UA\($0)/2013-07-01", minute: $0 + 5) }
      + ["EWR", "JFK", "LGA"].flatMap { [event("airport/\($0)"), event("weather/\($0)", minute: 3)] }
  }

  private func withEvents<T>(_ lines: [String], _ body: (String) throws -> T) throws -> T {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("fleet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: "\(folder)/events.jsonl"))
    return try body(folder)
  }

  private func subjects(_ lines: [String]) throws -> FleetSubjects {
    try withEvents(lines) { try FleetSubjects(eventsPath: "\($0)/events.jsonl") }
  }

  private func generator(
    _ lines: [String], devices: Int, seed: UInt64 = 1, template: FleetTemplate? = nil
  ) throws -> FleetGenerator {
    try FleetGenerator(
      subjects: try subjects(lines), options: FleetOptions(devices: devices, seed: seed, template: template))
  }

  @Test("subjects are grouped by prefix in the order of first appearance, each once; other lines are counted")
  func subjectGroups() throws {
    let found = try subjects([
      event("b/2", minute: 9), event("a/1", minute: 4), event("b/1", minute: 30), event("b/2"), "", "{broken",
      #"{"subject":7}"#, #"{"subject":""}"#, event("plain"), event("a/1"), #"{"type":"no subject"}"#,
    ])
    #expect(found.groups.map(\.prefix) == ["b/", "a/", ""])
    #expect(found.groups.map(\.subjects) == [["b/2", "b/1"], ["a/1"], ["plain"]])
    #expect(found.events == 6)
    #expect(found.skipped == 4)
    #expect(found.firstSkipped?.contains("events.jsonl:6: byte ") == true)
    #expect(found.firstTime == Timestamp(milliseconds: 1_372_636_800_000))
  }

  @Test("every line of the project's sample is an event")
  func sample() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let path = root.appendingPathComponent("Sources/rouse/Resources/flights-nyc-2013-03-08.jsonl.gz").path
    let found = try FleetSubjects(eventsPath: path)
    #expect(found.events == 15_606)
    #expect(found.skipped == 0)
    #expect(found.groups.map(\.prefix) == ["weather/", "flight/", "airport/"])
    #expect(found.groups.map(\.subjects.count) == [3, 983, 3])
    #expect(found.firstTime == Timestamp(rfc3339: "2013-03-08T09:00:00Z"))
  }

  @Test("events without a usable subject make no fleet, and the error names the first reason")
  func noSubjects() throws {
    let error = #expect(throws: FleetError.self) { try subjects([#"{"subject":7}"#]) }
    #expect(
      error?.description.hasSuffix(
        "no subject to be interested in; first reason: "
          + "\(error?.description.split(separator: " ").first.map { $0.dropLast() } ?? ""):1: "
          + "$.subject: expected a string, found a number") == true)
    #expect(throws: FleetError.self) { try subjects([]) }
    #expect(throws: FleetError.file(.system(operation: .open, path: "/nowhere", code: 2))) {
      _ = try FleetSubjects(eventsPath: "/nowhere")
    }
  }

  @Test("the same seed gives the same bytes, another seed gives others, and a larger fleet begins with a smaller one")
  func deterministic() throws {
    func bytes(_ devices: Int, _ seed: UInt64) throws -> [UInt8] {
      let generator = try generator(flightLines, devices: devices, seed: seed)
      return try withEvents([]) { folder in
        var writer = try LineWriter(path: "\(folder)/out.jsonl")
        try generator.write(to: &writer)
        try writer.close()
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/out.jsonl")))
      }
    }
    let small = try bytes(200, 42)
    #expect(try bytes(200, 42) == small)
    #expect(try bytes(200, 43) != small)
    #expect(try bytes(300, 42).starts(with: small))
    #expect(small.count { $0 == UInt8(ascii: "\n") } == 200)
  }

  @Test("one device of one seed is the same on every machine and in every version")
  func pinned() throws {
    let device = try generator(flightLines, devices: 1, seed: 20_130_708).registration(at: 6)
    #expect(
      device
        == Registration(
          device: "device-0000007", app: "com.example.glance", environment: .production, platform: "iOS",
          osVersion: OSVersion(major: 26), timeZone: "America/Chicago",
          tokens: .init(
            widgets: "d2c9719a5a00fa7cfceed9da2bc93859748c5133580d8e523ed549b2ab6c486c",
            background: "6becead14bcc104295854db7d0220eb05f018052c94ae256b1f41aa81d27c855"),
          widgets: [
            .init(id: "w1", kind: "AirportDelays", family: "systemSmall", interests: ["airport/EWR"]),
            .init(
              id: "w2", kind: "FlightStatus", family: "accessoryRectangular",
              interests: ["flight/UA123/2013-07-01", "flight/UA97/2013-07-01"]),
          ],
          updatedAt: Timestamp(milliseconds: 1_371_025_104_000)))
  }

  @Test("the registration decoder accepts every registration")
  func decodes() throws {
    let generator = try generator(flightLines, devices: 2000)
    var writer = JSONWriter()
    let reader = JSONReader(bytesMax: DomainBounds.recordBytesMax, nestingMax: DomainBounds.nestingMax)
    for index in 0..<2000 {
      let made = generator.registration(at: index)
      writer.reset()
      made.encode(to: &writer)
      #expect(writer.bytes.count <= DomainBounds.recordBytesMax)
      #expect(try Registration(json: writer.bytes, reader: reader) == made)
    }
  }

  @Test("ids, families, interests and times are within bounds, and every case of the mix occurs")
  func mix() throws {
    let generator = try generator(flightLines, devices: 5000)
    let devices = (0..<5000).map { generator.registration(at: $0) }
    let first = Timestamp(milliseconds: 1_372_636_800_000)
    #expect(Set(devices.map(\.device)).count == 5000)
    for device in devices {
      #expect((1...4).contains(device.widgets.count))
      #expect(Set(device.widgets.map(\.id)).count == device.widgets.count)
      #expect(device.updatedAt < first)
      if device.osVersion.major < 26 { #expect(device.tokens.widgets == nil) }
      for widget in device.widgets {
        #expect((1...3).contains(widget.interests.count))
        #expect(Set(widget.interests).count == widget.interests.count)
        if let next = widget.nextReload { #expect(next >= first && next < first + .hours(24)) }
      }
    }
    func share(_ holds: (Registration) -> Bool) -> Double { Double(devices.count(where: holds)) / 5000 }
    #expect((0.77...0.87).contains(share { $0.osVersion.major == 26 }))
    #expect((0.02...0.06).contains(share { $0.tokens == Registration.Tokens() }))
    #expect((0.65...0.85).contains(share { $0.timeZone.hasPrefix("America/") }))
    #expect((0.0001...0.01).contains(share { $0.developerMode }))
    #expect((0.001...0.02).contains(share { $0.environment == .sandbox }))
    #expect((0.05...0.2).contains(share { $0.widgets.contains { !$0.pushEnabled } }))
    #expect((0.1...0.3).contains(share { $0.widgets.contains { $0.nextReload != nil } }))
  }

  @Test("a kind with few subjects has a tenth of the widgets, and interests follow Zipf's law")
  func distribution() throws {
    let generator = try generator(flightLines, devices: 20_000)
    #expect(generator.kinds.map(\.name) == ["FlightStatus", "AirportDelays", "WeatherNow"])
    #expect(generator.kinds.map(\.subjects) == [200, 3, 3])
    var kinds: [Identifier: Int] = [:]
    var followers: [Identifier: Int] = [:]
    for index in 0..<20_000 {
      for widget in generator.registration(at: index).widgets {
        kinds[widget.kind, default: 0] += 1
        if widget.kind == "FlightStatus" { for key in widget.interests { followers[key, default: 0] += 1 } }
      }
    }
    let widgets = kinds.values.reduce(0, +)
    #expect(abs(Double(kinds["AirportDelays"] ?? 0) / Double(widgets) - 0.1) < 0.01)
    #expect(followers.count == 200)
    let ranked = followers.values.sorted(by: >)
    // One draw takes the first rank with probability 1/H(200) = 17 %, twice that of the second. Interests of a widget do
    // not repeat, which flattens the curve a little.
    #expect((1.5...2.1).contains(Double(ranked[0]) / Double(ranked[1])))
    #expect((15.0...90.0).contains(Double(ranked[0]) / Double(ranked[99])))
  }

  @Test(
    "without weights, kinds are as frequent as their subjects are many, but each has at least a tenth of the widgets",
    arguments: [
      [983, 3, 3], [1, 1], [1], [5, 3], [1000, 1, 1, 1, 1, 1, 1, 1, 1], [2_000_000, 90, 7], [60, 30, 10],
    ])
  func leastShares(counts: [Int]) {
    let weights = FleetGenerator.weights(subjects: counts)
    let total = weights.reduce(0, +)
    #expect(weights.allSatisfy { $0 * 10 >= total })
    for (weight, count) in zip(weights, counts) { #expect(weight >= count) }
    for (weight, count) in zip(weights, counts) where weight * 10 > total + 90 {
      #expect(weight == count, "a kind with more than a tenth keeps its number of subjects")
    }
  }

  @Test("ten kinds and more share the widgets evenly, because each is to have a tenth")
  func manyKinds() {
    #expect(FleetGenerator.weights(subjects: [900] + Array(repeating: 1, count: 11)) == Array(repeating: 1, count: 12))
  }

  @Test("events without the flight prefixes get one kind per prefix, named after it")
  func derivedKinds() throws {
    let generator = try generator([event("live-score/1"), event("team/a"), event("team/b"), event("x")], devices: 10)
    #expect(generator.kinds.map(\.name) == ["LiveScore", "Team", "Subject"])
    #expect(generator.kinds.map(\.share) == [0.25, 0.5, 0.25])
  }

  @Test("--kinds names kinds, prefixes and weights")
  func kindsOption() throws {
    let template = try FleetTemplate(kindsOption: "FlightStatus=flight/:90,Home=airport/JFK:10")
    #expect(template.kinds.map(\.name) == ["FlightStatus", "Home"])
    #expect(template.kinds.map(\.subjectPrefix) == ["flight/", "airport/JFK"])
    #expect(template.kinds.map(\.weight) == [90, 10])
    let generator = try generator(flightLines, devices: 10, template: template)
    #expect(generator.kinds.map(\.subjects) == [200, 1])
    #expect(generator.kinds.map(\.share) == [0.9, 0.1])
    #expect(try FleetTemplate(kindsOption: "A=urn:x/").kinds[0].subjectPrefix == "urn:x/")
  }

  @Test(
    "an error in --kinds names what was expected",
    arguments: [
      ("", "found '', expected Kind=prefix/ or Kind=prefix/:weight"),
      ("A=a/,B", "found 'B', expected Kind=prefix/ or Kind=prefix/:weight"),
      ("=a/", "found '=a/', expected Kind=prefix/ or Kind=prefix/:weight"),
      ("A=a/,A=b/", "kind A occurs twice"), ("A=a/:0", "A: weight 0, expected 1 to 1000000"),
      ("A=a/:1,B=b/", "1 of 2 kinds have a weight, expected all or none"),
    ])
  func wrongKinds(text: String, problem: String) {
    #expect(throws: FleetError.template(place: "--kinds", problem: problem)) {
      _ = try FleetTemplate(kindsOption: text)
    }
  }

  @Test("a template file says kinds, weights, families and interests")
  func templateFile() throws {
    try withEvents([
      #"{"app": "com.example.departures", "kinds": ["#,
      #"  {"kind": "A", "subjectPrefix": "a/", "weight": 3, "families": ["systemLarge"], "interestsPerWidget": 2},"#,
      #"  {"kind": "B", "subjectPrefix": "b/", "weight": 1, "interestsPerWidget": {"min": 1, "max": 5}}]}"#,
    ]) { folder in
      let template = try FleetTemplate(path: "\(folder)/events.jsonl")
      #expect(
        template
          == FleetTemplate(
            app: "com.example.departures",
            kinds: [
              .init(name: "A", subjectPrefix: "a/", weight: 3, families: ["systemLarge"], interestsPerWidget: 2...2),
              .init(name: "B", subjectPrefix: "b/", weight: 1, interestsPerWidget: 1...5),
            ]))
    }
  }

  @Test(
    "an error in a template file names its place in the document",
    arguments: [
      (#"{"kinds": []}"#, "no kinds, expected at least one"),
      (#"{"kinds": [{"kind": "A"}]}"#, "$.kinds[0].subjectPrefix: missing; expected what the subjects begin with"),
      (
        #"{"kinds": [{"kind": "A", "subjectPrefix": "a/", "wieght": 1}]}"#,
        "$.kinds[0].wieght: expected one of kind, subjectPrefix, weight, families, interestsPerWidget, found another key"
      ),
      (
        #"{"kinds": [{"kind": "A", "subjectPrefix": "a/", "interestsPerWidget": {"min": 3, "max": 2}}]}"#,
        "$.kinds[0].interestsPerWidget.max: expected at least min, 3, found 2"
      ),
      (
        #"{"kinds": [{"kind": "A", "subjectPrefix": "a/", "interestsPerWidget": 65}]}"#,
        "A: 65 to 65 interests per widget, expected 1 to 64"
      ),
      (#"{"kinds": [{"kind": "A", "subjectPrefix": "a/", "families": []}]}"#, "A: no families, expected at least one"),
    ])
  func wrongTemplate(text: String, problem: String) throws {
    try withEvents([text]) { folder in
      let path = "\(folder)/events.jsonl"
      #expect(throws: FleetError.template(place: path, problem: problem)) { _ = try FleetTemplate(path: path) }
    }
  }

  @Test("a kind without subjects and a number of devices out of bounds are refused with advice")
  func refused() throws {
    let template = try FleetTemplate(kindsOption: "A=train/")
    let error = #expect(throws: FleetError.self) { try generator(flightLines, devices: 10, template: template) }
    #expect(
      error?.description.hasSuffix(
        "no subject begins with 'train/' (kind A); the subjects begin with flight/, airport/, weather/") == true)
    #expect(throws: FleetError.option(name: "--devices", problem: "found 0, expected 1 to 100000000")) {
      try generator(flightLines, devices: 0)
    }
  }
}
