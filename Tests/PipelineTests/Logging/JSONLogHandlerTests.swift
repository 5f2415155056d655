import Domain
import JSON
import Logging
import Pipeline
import Synchronization
import Testing

@Suite("Logs as JSON")
struct JSONLogHandlerTests {
  private final class Written: Sendable {
    private let written = Mutex<[String]>([])
    var lines: [String] { written.withLock { $0 } }
    func add(_ json: [UInt8]) { written.withLock { $0.append(String(decoding: json, as: UTF8.self)) } }
  }

  private let written = Written()

  private func logger() -> Logger {
    let written = written
    return Logger(label: "rouse") { label in
      JSONLogHandler(label: label, now: { Timestamp(milliseconds: 1_795_377_600_123) }) { written.add($0) }
    }
  }

  @Test("a line is one object: time, level, label and message, then the metadata in the order of their keys")
  func line() {
    var log = logger()
    log[metadataKey: "worker"] = "3"
    log.info("partition restored", metadata: ["partition": "7", "devices": .stringConvertible(12)])
    log.warning("no owner", metadata: ["partitions": ["1", "2"], "of": ["b": "x", "a": "y"]])
    #expect(
      written.lines == [
        #"{"time":"2026-11-22T20:00:00.123Z","level":"info","label":"rouse","message":"partition restored","#
          + #""devices":"12","partition":"7","worker":"3"}"#,
        #"{"time":"2026-11-22T20:00:00.123Z","level":"warning","label":"rouse","message":"no owner","#
          + #""of":{"a":"y","b":"x"},"partitions":["1","2"],"worker":"3"}"#,
      ])
  }

  @Test("an incident has its level and message, and its name as a member")
  func incident() throws {
    for incident in Incident.allCases { logger().report(incident, metadata: ["error": "e"]) }
    #expect(written.lines.count == Incident.allCases.count)
    for (line, incident) in zip(written.lines, Incident.allCases) {
      let json = try JSONValue(parsing: line)
      #expect(json["incident"] == .string(incident.rawValue))
      #expect(json["level"] == .string(incident.level.rawValue))
      #expect(json["error"] == .string("e"))
      #expect([.critical, .error].contains(incident.level))
    }
  }

  @Test("metadata cannot pass for the time, the level, the label or the message")
  func forged() throws {
    logger().info("real", metadata: ["message": "forged", "level": "critical", "time": "1970", "label": "other"])
    let line = try #require(written.lines.first)
    #expect(
      line.hasSuffix(
        #""message":"real","metadata.label":"other","metadata.level":"critical","metadata.message":"forged","#
          + #""metadata.time":"1970"}"#), "\(line)")
  }

  @Test("values with line feeds and controls stay one line, and mean the same")
  func hostile() throws {
    struct Refusal: Error, CustomStringConvertible { var description: String }
    let evil = "e\n{\"level\":\"critical\"}\u{1b}[31m\r\u{0}\""
    logger().warning("refused", error: Refusal(description: evil), metadata: [evil: ["\(evil)"]])
    let line = try #require(written.lines.first)
    #expect(!line.unicodeScalars.contains { $0.value < 0x20 }, "\(line.debugDescription)")
    let json = try JSONValue(parsing: line)
    #expect(json["error.message"] == .string(evil))
    #expect(json[evil] == .array([.string(evil)]))
  }
}
