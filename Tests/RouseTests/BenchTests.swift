import Foundation
import JSON
import Testing

/// Runs the benchmarks that need a broker with a tiny load on an embedded one, to check their counts, not their speed.
@Suite("rouse bench with a broker", .serialized)
struct BenchTests {
  private func number(_ value: JSONValue?) -> Double? {
    guard case .number(let number)? = value else { return nil }
    return number
  }

  private func run(_ arguments: String...) throws -> JSONValue {
    let outcome = try Workplace().rouse(list: ["bench"] + arguments + ["--format", "json"])
    #expect(outcome.status == 0, "\(outcome.err)")
    let json = try JSONValue(parsing: outcome.out)
    for key in ["processor", "cores", "memoryBytes", "rouse", "librdkafka", "broker", "partitions"] {
      #expect(json[key] != nil, "\(key) is missing")
    }
    return json
  }

  @Test("bench pipeline measures every mode on the same load, and the passthrough copies the written records")
  func pipeline() throws {
    let json = try run("pipeline", "--devices", "200", "--events", "2000", "--rounds", "1", "--commit-interval", "20")
    guard case .array(let rounds)? = json["rounds"] else {
      Issue.record("no rounds")
      return
    }
    var modes: [String: JSONValue] = [:]
    for round in rounds { if case .string(let mode)? = round["mode"] { modes[mode] = round } }
    #expect(modes.keys.sorted() == ["idempotent", "passthrough", "transactional", "unlogged"])
    for mode in ["transactional", "idempotent", "unlogged"] {
      // Every mode decides the same events. Of the 2,000, those that are read together with the end of the warm-up are not measured.
      let records = try #require(number(modes[mode]?["logRecords"]))
      #expect(records > 0 && records <= 2000, "\(mode)")
      #expect(try #require(number(modes[mode]?["decisions"])) > 0, "\(mode)")
      #expect(try #require(number(modes[mode]?["processorSeconds"])) > 0, "\(mode)")
    }
    #expect(number(modes["passthrough"]?["decisions"]) == nil)
    #expect(try #require(number(modes["passthrough"]?["outputRecords"])) > 0)
    for ratio in ["processorPerRecordToPassthrough", "transactionalToIdempotent", "loggedToUnlogged"] {
      #expect(try #require(number(json["ratios"]?[ratio])) > 0, "\(ratio)")
    }
  }

  @Test("bench intake measures intake and the passthrough at each number of log partitions")
  func intake() throws {
    let json = try run(
      "intake", "--events", "2000", "--rounds", "1", "--log-partitions", "1", "--log-partitions", "3", "--threads", "2")
    guard case .array(let rounds)? = json["rounds"] else {
      Issue.record("no rounds")
      return
    }
    #expect(rounds.map { $0["kind"] } == ["intake", "passthrough", "intake", "passthrough"].map { .string($0) })
    #expect(rounds.map { number($0["logPartitions"]) } == [1, 1, 3, 3])
    for round in rounds {
      let events = try #require(number(round["events"]))
      // The first tenth warms up.
      #expect(events > 0 && events <= 1800)
      #expect(try #require(number(round["processorSecondsPerMillion"])) > 0)
    }
    for place in 0..<2 { #expect(try #require(number(json["ratios"]?[place]?["processorToPassthrough"])) > 0) }
  }

  @Test("one event that reaches the whole fleet is decided for every device")
  func fanOut() throws {
    let json = try run(
      "pipeline", "--devices", "300", "--fan-out", "300", "--events", "1", "--rounds", "1", "--partitions", "2",
      "--mode", "transactional", "--alerts", "100")
    let round = json["rounds"]?[0]
    #expect(number(round?["logRecords"]) == 2, "one record on each partition")
    #expect(number(round?["decisions"]) == 300)
    #expect(number(round?["commands"]) == 300)
  }

  @Test("bench observing takes turns with and without metrics and traces until the events are used up")
  func observing() throws {
    let json = try run(
      "observing", "--devices", "200", "--events", "40000", "--turn", "20", "--commit-interval", "10")
    guard case .array(let pairs)? = json["pairs"], !pairs.isEmpty else {
      Issue.record("no pairs of turns")
      return
    }
    for pair in pairs {
      for side in ["off", "on"] {
        #expect(try #require(number(pair[side]?["decisions"])) > 0)
        #expect(try #require(number(pair[side]?["wallSeconds"])) > 0)
        #expect(try #require(number(pair[side]?["processorSeconds"])) > 0)
      }
    }
    #expect(try #require(number(json["scrapes"])) >= 1)
    #expect(try #require(number(json["scrapeBytesMax"])) > 1000)
    let spans = try #require(number(json["spansExported"]))
    // About one of a hundred events of both rounds, each with two spans.
    #expect((100...3300).contains(spans), "\(spans)")
    #expect(try #require(number(json["spanBytes"])) > 100 * spans)
    for ratio in ["decisionsPerSecond", "processorPerDecision"] {
      #expect(try #require(number(json["onToOff"]?[ratio]?["median"])) > 0)
    }
  }

  @Test("bench latency prints ascending percentiles")
  func latency() throws {
    let json = try run(
      "latency", "--devices", "200", "--rate", "200", "--seconds", "1", "--commit-interval", "20", "--alerts", "100")
    let latencies = try ["p50", "p90", "p99", "p999", "max"].map {
      try #require(number(json["latencyMilliseconds"]?[$0]))
    }
    #expect(latencies == latencies.sorted())
    #expect(try #require(latencies.first) > 0)
    let commands = try #require(number(json["commands"]))
    #expect(commands > 0 && commands <= 200)
  }

  @Test("bench restore brings every device back")
  func restore() throws {
    let json = try run("restore", "--devices", "300", "--rounds", "1", "--partitions", "2")
    guard case .array(let rounds)? = json["rounds"] else {
      Issue.record("no rounds")
      return
    }
    #expect(rounds.map { $0["from"] } == ["topic", "snapshot"].map { .string($0) })
    // Devices share records. Each planner has a position at least.
    for round in rounds { #expect(try #require(number(round["records"])) > 0) }
  }

  @Test("bench gateway publishes from another process, and every request is acknowledged")
  func gateway() throws {
    let json = try run("gateway", "--seconds", "1", "--connections", "2", "--batch", "5")
    let round = try #require(json["rounds"]?[0])
    #expect(number(round["batch"]) == 5 && number(round["refused"]) == 0)
    let maximum = try #require(number(round["maximumEventsPerSecond"]))
    #expect(try maximum > 0 && #require(number(round["eventsPerSecond"])) <= maximum / 2)
    let latencies = try ["p50", "p99", "max"].map { try #require(number(round["latencyMilliseconds"]?[$0])) }
    #expect(latencies == latencies.sorted())
  }

  @Test("bench gateway holds its slow connections, and acknowledges every other request")
  func slowClients() throws {
    let json = try run(
      "gateway", "--seconds", "1", "--connections", "2", "--slow", "50", "--slow-bytes", "2000", "--rate", "50")
    #expect(number(json["slowConnections"]) == 50 && number(json["slowBytes"]) == 2000)
    #expect(number(json["refused"]) == 0 && number(json["endedForBodies"]) == 0)
    let memory = try ["memoryBytesBefore", "memoryBytesMax"].map { try #require(number(json[$0])) }
    #expect(memory[0] > 0 && memory[0] <= memory[1])
    let latencies = try ["p50", "p99", "max"].map { try #require(number(json["latencyMilliseconds"]?[$0])) }
    #expect(latencies[0] > 0 && latencies == latencies.sorted())
  }

  @Test("a load that is too large for the embedded broker is refused before anything starts")
  func tooLarge() throws {
    let outcome = try Workplace().rouse("bench", "pipeline", "--devices", "100000", "--partitions", "2")
    #expect(outcome.status == 1)
    #expect(outcome.err.contains("so this load needs --partitions"))
  }
}
