import Foundation
import JSON
import Observing
import Pipeline
import Testing

@testable import rouse

@Suite("rouse fleet and rouse bench")
struct FleetAndBenchTests {
  private func events() throws -> Workplace {
    let place = try Workplace()
    try place.put(
      (0..<20).map { delay("e\($0)", $0, at: "15:00:\($0 + 10)", "flight/UA\($0)") }.joined() + "broken\n"
        + delay("e20", 1, at: "16:00:00", "airport/EWR"), "events.jsonl")
    return place
  }

  @Test("a larger fleet begins with the devices of a smaller one, and bad lines are reported")
  func prefix() throws {
    let place = try events()
    let small = try place.rouse("fleet", "--events", "events.jsonl", "--devices", "3", "--seed", "5", "--out", "-")
    #expect(small.status == 0)
    #expect(small.err.hasPrefix("1 line of events.jsonl skipped; the first: events.jsonl:21: "))
    #expect(small.err.contains("3 devices, seed 5, app com.example.glance"))
    let large = try place.rouse("fleet", "--events", "events.jsonl", "--devices", "9", "--seed", "5", "--out", "-")
    #expect(large.lines.count == 9)
    #expect(Array(large.lines.prefix(3)) == small.lines)
  }

  @Test("kinds are given by an option or by a file")
  func kinds() throws {
    let place = try events()
    let option = try place.rouse(
      "fleet", "--events", "events.jsonl", "--devices", "4", "--out", "a.jsonl", "--kinds", "Board=airport/",
      "--format",
      "json")
    #expect(try JSONValue(parsing: option.out)["kinds"]?[0]?["kind"] == .string("Board"))
    try place.put(#"{"kinds":[{"kind":"Board","subjectPrefix":"airport/"}]}"#, "template.json")
    let file = try place.rouse(
      "fleet", "--events", "events.jsonl", "--devices", "4", "--out", "b.jsonl", "--template", "template.json")
    #expect(file.status == 0)
    #expect(try place.bytes("a.jsonl") == place.bytes("b.jsonl"))
  }

  @Test("unknown subjects, missing files and impossible numbers are refused")
  func refused() throws {
    let place = try events()
    let prefix = try place.rouse(
      "fleet", "--events", "events.jsonl", "--devices", "4", "--out", "-", "--kinds", "Board=stadium/")
    #expect(prefix.status == 1)
    #expect(prefix.err.contains("no subject begins with 'stadium/' (kind Board)"))
    let file = try place.rouse("fleet", "--events", "none.jsonl", "--devices", "4", "--out", "-")
    #expect(file.status == 1)
    #expect(file.err.contains("cannot open none.jsonl"))
    let number = try place.rouse("fleet", "--events", "events.jsonl", "--devices", "0", "--out", "-")
    #expect(number.status == 2)
    #expect(number.err.contains("--devices: found 0, expected 1 to 100000000"))
  }

  @Test("bench planner prints figures with their machine and settings")
  func benchPlanner() throws {
    let outcome = try Workplace().rouse(
      "bench", "planner", "--devices", "200", "--instances", "2", "--fan-out", "10", "--decisions", "500", "--format",
      "json")
    let json = try JSONValue(parsing: outcome.out)
    #expect(json["devices"] == .number(200))
    #expect(json["processor"] != nil)
    #expect(json["runs"]?[0]?["fanOut"] == .number(10))
    guard case .number(let rate)? = json["runs"]?[0]?["decisionsPerSecond"] else {
      Issue.record("no decisionsPerSecond")
      return
    }
    #expect(rate > 0)
  }

  @Test("bench scrape measures every metric of a process with all roles, those of tokens with each outcome")
  func benchScrapeMetrics() {
    let registry = BenchScrapeCommand.process(partitions: 1, kinds: 1).registry
    #expect(Set(registry.descriptions.map(\.name)) == Set(ObservabilityTests.metrics.keys))
    let page = String(decoding: Exposition.bytes(of: registry, as: .openMetrics), as: UTF8.self)
    for line in [
      "tokens_total{outcome=\"accepted\"}", "tokens_total{outcome=\"expired\"}",
      "key_reads_total{outcome=\"failed\"}", "keys", "keys_age_seconds",
    ] {
      #expect(page.contains("\nrouse_oidc_\(line) "), "\(line)")
    }
  }

  @Test("bench scrape fetches the page of a large process in both formats")
  func benchScrape() throws {
    let outcome = try Workplace().rouse("bench", "scrape", "--scrapes", "1", "--format", "json")
    let json = try JSONValue(parsing: outcome.out)
    #expect(json["partitions"] == .number(64) && json["kinds"] == .number(50))
    for format in ["openMetrics", "prometheus"] {
      guard case .number(let bytes)? = json[format]?["bytes"], case .number(let seconds)? = json[format]?["seconds"]
      else {
        Issue.record("no figures of \(format)")
        continue
      }
      #expect((100_000..<1_000_000).contains(bytes) && seconds > 0)
    }
  }

  @Test("bench audit fills a new file and refuses an existing one")
  func benchAudit() throws {
    let place = try Workplace()
    let outcome = try place.rouse("bench", "audit", "--store", "b.sqlite", "--decisions", "300", "--devices", "10")
    #expect(outcome.status == 0)
    #expect(outcome.lines.contains { $0.hasPrefix("speed ") && $0.contains("decisions/s") })
    let again = try place.rouse("bench", "audit", "--store", "b.sqlite", "--decisions", "300")
    #expect(again.status == 1)
    #expect(again.err.contains("there is a file at b.sqlite already"))
  }
}
