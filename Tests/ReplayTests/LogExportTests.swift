import Domain
import Foundation
import LineFiles
import Testing

@testable import Replay

/// Records of a log go in, and the lines of the files come out.
@Suite("The export of a log")
struct LogExportTests {
  private final class Export {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("export-\(UUID().uuidString)")
    let log: LogExport
    private var offsets: [Int32: Int64] = [:]

    init(share: Double = 1, from: Int64? = nil, to: Int64? = nil) throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let path = folder.path
      log = try LogExport(
        LogExportOptions(
          devices: path + "/devices", events: path + "/events", signals: path + "/signals", sample: DeviceSample(share),
          from: from.map { Self.at($0) }, to: to.map { Self.at($0) } ?? .distantFuture, spoolFolder: path)
      ) { String($0.reversed()) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: 1_700_000_000_000 + seconds * 1000) }

    /// Adds a record to a partition.
    func add(
      _ content: LogRecord.Content, partition: Int32 = 0, at seconds: Int64, origin: Int64? = nil, generation: Int64 = 1
    ) {
      var bytes: [UInt8] = []
      let source = origin.map { Origin(topic: "t", partition: 0, offset: $0, generation: generation) }
      LogRecord(origin: source, content: content).encode(into: &bytes)
      add(bytes, partition: partition, at: seconds)
    }

    func add(_ bytes: [UInt8], partition: Int32 = 0, at seconds: Int64) {
      let offset = offsets[partition, default: 0]
      offsets[partition] = offset + 1
      log.take(bytes, key: nil, partition: partition, offset: offset, timestamp: Self.at(seconds))
    }

    func lines(_ name: String) throws -> [String] {
      let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      return text.split(separator: "\n").map(String.init)
    }

    func registrations() throws -> [Registration] {
      try lines("devices").map { try RegistrationDecoder().decode(Array($0.utf8)) }
    }
  }

  private static func registration(_ device: Identifier, _ token: String = "ab12", updated: Int64 = 0) -> Registration {
    Registration(
      device: device, app: "a", environment: .production, platform: "iOS", osVersion: OSVersion(major: 26),
      timeZone: "UTC", tokens: Registration.Tokens(widgets: token, background: nil),
      widgets: [Registration.Widget(id: "w", kind: "K", interests: ["s"])], updatedAt: Export.at(updated))
  }

  private static func event(_ id: Identifier, _ fields: [EventField] = []) -> DomainEvent {
    DomainEvent(
      id: id, source: "/s", type: "t", subject: "s", time: Export.at(-5), traceparent: nil, fields: fields)
  }

  private static func signal(_ device: Identifier, _ id: Identifier, _ kind: Signal.Kind = .appForegrounded) -> Signal {
    Signal(device: device, id: id, time: Export.at(-7), kind: kind)
  }

  @Test("events read back as they were, each once, with their log time")
  func events() throws {
    let fields = [
      EventField(path: "data.", value: .bool(false)), EventField(path: "data.a", value: .number(0.1)),
      EventField(path: "data.a.b", value: .string("é\n\u{1}\"")), EventField(path: "data.legs.0.gate", value: .null),
    ]
    let scalar = [EventField(path: "data", value: .string("x"))]
    let export = try Export()
    for partition in [0, 1] as [Int32] {
      export.add(.event(Self.event("e1", fields)), partition: partition, at: 10, origin: 0)
      export.add(.event(Self.event("e2", scalar)), partition: partition, at: 9, origin: 1)
      // Intake appended it again after a crash.
      export.add(.event(Self.event("e1", fields)), partition: partition, at: 11, origin: 0)
      export.add(.event(Self.event("e3")), partition: partition, at: 12, origin: 0, generation: 2)
    }
    let summary = try export.log.finish()
    #expect(summary.events == 3 && summary.records == 8)
    var input = try PlanInput.events(path: export.folder.path + "/events")
    var read: [(DomainEvent, Timestamp?)] = []
    while let event = try input.next(refused: { Issue.record("\($0)") }) { read.append((event, input.time)) }
    #expect(read.map(\.0) == [Self.event("e1", fields), Self.event("e2", scalar), Self.event("e3")])
    #expect(read.map(\.1) == [10, 10, 12].map { Export.at($0) }, "log time never runs backwards")
    #expect(input.time == nil)
  }

  @Test(
    "a repeat of an event is dropped although the time begins between them, and although its generation is not known")
  func repeatedEvents() throws {
    let export = try Export(from: 10)
    export.add(.event(Self.event("e1")), at: 9, origin: 0)
    export.add(.event(Self.event("e1")), at: 11, origin: 0)
    export.add(.event(Self.event("e2")), at: 12, origin: 1)
    export.add(.event(Self.event("e2")), at: 12, origin: 1, generation: 0)
    #expect(try export.log.finish().events == 1)
    #expect(try export.lines("events").count == 1)
  }

  @Test("signals of all partitions come in the order of log time")
  func signals() throws {
    let export = try Export()
    for (partition, times) in [(0, [1, 4, 4, 9]), (1, [2, 3, 10]), (2, [4, 5])] as [(Int32, [Int64])] {
      for (number, time) in times.enumerated() {
        export.add(.signal(Self.signal("d\(partition)", "s\(partition)-\(number)")), partition: partition, at: time)
      }
    }
    #expect(try export.log.finish().signals == 9)
    var input = try PlanInput.signals(path: export.folder.path + "/signals")
    var ids: [String] = []
    while let signal = try input.next(refused: { Issue.record("\($0)") }) { ids.append(signal.id.text) }
    #expect(ids == ["s0-0", "s1-0", "s1-1", "s0-1", "s0-2", "s2-0", "s2-1", "s0-3", "s1-2"])
  }

  @Test("the newest registration of a device counts, without its tokens; channels are left to the plan")
  func registrations() throws {
    let export = try Export(from: 10, to: 20)
    export.add(.registration(Self.registration("d1", "01", updated: 1)), at: 1)
    export.add(.registration(Self.registration("d2")), at: 2)
    export.add(.registration(Self.registration("d1", "0002", updated: 3)), at: 3)
    export.add(.registration(Self.registration("d1", "03", updated: 2)), at: 4)
    export.add(.registration(Self.registration("channel/a/production/c")), at: 4)
    // It was away before the time, d3 left during it, and d5 is new after it.
    export.add(.forget(device: "d2"), at: 5)
    export.add(.registration(Self.registration("d3")), at: 6)
    export.add(.signal(Self.signal("d1", "before")), at: 9)
    export.add(.forget(device: "d3"), at: 12)
    export.add(.registration(Self.registration("d4", updated: 30)), at: 13)
    export.add(.registration(Self.registration("d4", "04", updated: 14)), at: 14)
    export.add(.signal(Self.signal("d1", "in", .tokenRejected(token: "0002"))), at: 14)
    export.add(.registration(Self.registration("d5")), at: 20)
    // The compacted topic: d6, d7 and d8 are not in the log. d7 left, and so did d8, which came back.
    for device in ["d2", "d3", "d5", "d6", "d7", "d8"] as [Identifier] {
      export.log.complete(Self.registration(device))
    }
    export.log.complete(Self.registration("d6", "0006", updated: 1))
    for device in ["d1", "d7", "d8"] as [Identifier] { export.log.completeRemoval(of: device) }
    export.log.complete(Self.registration("d8", "08", updated: 1))
    let summary = try export.log.finish()
    #expect(summary.devices == 5 && summary.removed == 1 && summary.completed == 2 && summary.signals == 1)
    let written = try export.registrations()
    #expect(written.map(\.device) == ["d1", "d3", "d4", "d6", "d8"])
    #expect(written.map(\.tokens.widgets) == ["2000", "21ba", "40", "6000", "80"])
    #expect(try export.lines("signals").first?.contains(#""token":"2000""#) == true, "as the registration has it")
  }

  @Test("what cannot be read is counted; a record of a newer release is named; policies after an event are counted")
  func others() throws {
    let export = try Export()
    export.add(.policy(document: "p"), at: 1)
    export.add(.event(Self.event("e")), at: 2)
    export.add(.tick, at: 3)
    for partition in [0, 1] as [Int32] { export.add(.policy(document: "p"), partition: partition, at: 4) }
    export.add([1, 99], at: 5)
    export.add([2, 1], at: 6)
    let summary = try export.log.finish()
    #expect(summary.policies == 1 && summary.unreadable == 1)
    #expect(summary.firstUnreadable?.hasPrefix("log[0]@4: ") == true)
    #expect(export.log.newerRecord?.hasPrefix("log[0]@5: ") == true)
  }

  @Test("a file that cannot be written ends the export without files")
  func disk() throws {
    let export = try Export()
    try FileManager.default.removeItem(at: export.folder)
    export.add(.signal(Self.signal("d", "s")), at: 1)
    #expect(throws: LineFileError.self) { try export.log.finish() }
  }

  @Test("a log time that is no time is refused by its path")
  func wrongLogTime() throws {
    let export = try Export()
    let line =
      #"{"specversion":"1.0","id":"e","source":"/s","type":"t","subject":"s","time":"2013-07-01T00:00:00Z","#
      + #""rouselogtime":"x"}"#
    let path = export.folder.path + "/e.jsonl"
    try (line + "\n" + line.replacing(#""x""#, with: #""2013-07-01T00:00:09Z""#)).write(
      toFile: path, atomically: false, encoding: .utf8)
    var refused: [String] = []
    var input = try PlanInput.events(path: path)
    let event = try input.next(refused: { refused.append($0.path) })
    #expect(refused == ["$.rouselogtime"])
    #expect(event?.time != input.time && input.time == Timestamp(rfc3339: "2013-07-01T00:00:09Z"))
  }
}
