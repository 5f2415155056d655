import Foundation
import JSON

/// What `rouse bench pipeline` found, as text and as JSON.
struct BenchPipelineReport {
  var command: BenchPipelineCommand
  var broker: String
  var events: Int
  var partitions: Int
  var rounds: [BenchRound]

  private func median(_ mode: BenchMode, _ figure: (BenchRound) -> Double) -> Double? {
    rounds.filter { $0.mode == mode }.map(figure).median
  }

  /// The median over rounds of one mode's figure over the other's in the same round.
  private func ratio(_ mode: BenchMode, to other: BenchMode, _ figure: (BenchRound) -> Double) -> Double? {
    zip(rounds.filter { $0.mode == mode }, rounds.filter { $0.mode == other }).map { figure($0) / figure($1) }.median
  }

  private var ratios: [(key: StaticString, words: String, value: Double?)] {
    [
      (
        "processorPerRecordToPassthrough", "× the passthrough's processor time for each output record",
        ratio(.transactional, to: .passthrough, \.processorPerRecord)
      ),
      (
        "transactionalToIdempotent", "of the throughput without transactions",
        ratio(.transactional, to: .idempotent, \.decisionsPerSecond)
      ),
      (
        "loggedToUnlogged", "of the throughput without decision records",
        ratio(.transactional, to: .unlogged, \.decisionsPerSecond)
      ),
    ]
  }

  private var modes: [BenchMode] { BenchMode.allCases.filter { mode in rounds.contains { $0.mode == mode } } }

  var text: String {
    var text = """
      machine   \(BenchMachine.text)
      versions  \(BenchMachine.versions)
      broker    \(broker), \(Digits.count(partitions, "partition")), \(Digits.count(command.kafka.workers, "planner")), \
      a commit every \(command.commitInterval) ms
      load      \(Digits.count(command.fleet.devices, "device")) × \(command.fleet.instances), \(Digits.count(events, "event")) that reach \
      \(Digits.count(command.fleet.fanOut, "device")) each, \(Digits.count(command.rounds, "round"))

      """
    if let logged = rounds.first(where: { $0.mode == .transactional }), logged.decisions > 0 {
      let decisions = Double(logged.decisions)
      text += "records   1 decision, \(Digits.decimal(Double(logged.commands) / decisions, 2)) commands and "
      text += "\(Digits.decimal(Double(logged.stateRecords) / decisions, 2)) state records for each decision\n"
    }
    for mode in modes { text += line(mode) }
    for ratio in ratios {
      guard let value = ratio.value else { continue }
      text += "ratio     transactional: \(Digits.decimal(value, 2)) \(ratio.words)\n"
    }
    return text
  }

  private func line(_ mode: BenchMode) -> String {
    let name = mode.words.padding(toLength: 16, withPad: " ", startingAt: 0)
    var text = "\(name) "
    if mode != .passthrough, let speed = median(mode, \.decisionsPerSecond),
      let cost = median(mode, \.processorPerMillionDecisions), let wall = median(mode, \.wallSeconds)
    {
      text += "\(Digits.grouped(Int(speed))) decisions/s in \(Digits.decimal(wall, 2)) s, "
      text += "\(Digits.decimal(cost, 2)) CPU-s a million, "
    }
    if let speed = median(mode, \.recordsPerSecond), let cost = median(mode, \.processorPerRecord) {
      text += "\(Digits.grouped(Int(speed))) records/s, \(Digits.decimal(cost, 2)) µs CPU a record"
    }
    if let peak = median(mode, { Double($0.peakBytes ?? 0) }), peak > 0 {
      text += ", \(Digits.grouped(Int(peak) >> 20)) MiB at most"
    }
    return text + "\n"
  }

  var json: [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    BenchMachine.write(to: &json)
    json.key("broker")
    json.string(broker)
    for (key, value) in [
      ("partitions", partitions), ("workers", command.kafka.workers), ("devices", command.fleet.devices),
      ("instancesPerDevice", command.fleet.instances), ("fanOut", command.fleet.fanOut), ("events", events),
      ("alertPercent", command.fleet.alerts), ("commitIntervalMilliseconds", command.commitInterval),
    ] {
      json.key(key)
      json.integer(value)
    }
    json.key("ratios")
    json.beginObject()
    for ratio in ratios {
      guard let value = ratio.value else { continue }
      json.key(ratio.key)
      json.rounded(value)
    }
    json.endObject()
    json.key("medians")
    json.beginArray()
    for mode in modes { write(median: mode, to: &json) }
    json.endArray()
    json.key("rounds")
    json.beginArray()
    for round in rounds { write(round, to: &json) }
    json.endArray()
    json.endObject()
    return json.bytes
  }

  private func write(median mode: BenchMode, to json: inout JSONWriter) {
    json.beginObject()
    json.key("mode")
    json.string(mode.rawValue)
    var figures: [(StaticString, Double?)] = [
      ("recordsPerSecond", median(mode, \.recordsPerSecond)),
      ("processorMicrosecondsPerRecord", median(mode, \.processorPerRecord)),
    ]
    if mode != .passthrough {
      figures += [
        ("decisionsPerSecond", median(mode, \.decisionsPerSecond)),
        ("processorSecondsPerMillionDecisions", median(mode, \.processorPerMillionDecisions)),
      ]
    }
    for (key, value) in figures {
      json.key(key)
      json.rounded(value ?? 0)
    }
    json.endObject()
  }

  private func write(_ round: BenchRound, to json: inout JSONWriter) {
    json.beginObject()
    json.key("mode")
    json.string(round.mode.rawValue)
    json.key("wallSeconds")
    json.rounded(round.wallSeconds)
    json.key("processorSeconds")
    json.rounded(round.processorSeconds)
    json.key("outputRecords")
    json.integer(round.outputRecords)
    if round.mode != .passthrough {
      for (key, value) in [
        ("logRecords", round.logRecords), ("decisions", round.decisions), ("commands", round.commands),
        ("stateRecords", round.stateRecords),
      ] {
        json.key(key)
        json.integer(value)
      }
    }
    json.key("transactions")
    json.integer(round.transactions)
    if let peak = round.peakBytes {
      json.key("memoryPeakBytes")
      json.integer(peak)
    }
    json.endObject()
  }
}
