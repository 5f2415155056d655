import Benchmarks
import Foundation
import JSON

/// Prints the figures of `rouse bench pipeline`, as text or as JSON.
struct BenchPipelineReport {
  var command: BenchPipelineCommand
  var broker: String
  var events: Int
  var partitions: Int
  var result: PipelineResult

  /// The ratios of modes, each with its JSON key and its words.
  private var ratios: [(key: StaticString, words: String, value: Double?)] {
    [
      (
        "processorPerRecordToPassthrough", "× the passthrough's processor time for each output record",
        result.ratio(.transactional, to: .passthrough, \.processorPerRecord)
      ),
      (
        "transactionalToIdempotent", "of the throughput without transactions",
        result.ratio(.transactional, to: .idempotent, \.decisionsPerSecond)
      ),
      (
        "loggedToUnlogged", "of the throughput without decision records",
        result.ratio(.transactional, to: .unlogged, \.decisionsPerSecond)
      ),
    ]
  }

  private var head: BenchReportHead {
    BenchReportHead(
      broker: broker, partitions: partitions, workers: command.kafka.workers, devices: command.fleet.devices,
      instances: command.fleet.instances)
  }

  var text: String {
    var text = """
      \(BenchMachine.lines)
      \(head.brokerLine), a commit interval of \(command.commitInterval) ms
      load      \(Digits.count(command.fleet.devices, "device")) × \(command.fleet.instances), \(Digits.count(events, "event")) that reach \
      \(Digits.count(command.fleet.fanOut, "device")) each, \(Digits.count(command.rounds, "round"))

      """
    if let logged = result.rounds.first(where: { $0.mode == .transactional }), logged.decisions > 0 {
      let decisions = Double(logged.decisions)
      text += "records   1 decision, \(Digits.decimal(Double(logged.commands) / decisions, 2)) commands and "
      text += "\(Digits.decimal(Double(logged.stateRecords) / decisions, 2)) state records for each decision\n"
    }
    for mode in result.modes { text += line(mode) }
    for ratio in ratios {
      guard let value = ratio.value else { continue }
      text += "ratio     transactional: \(Digits.decimal(value, 2)) \(ratio.words)\n"
    }
    return text
  }

  private func line(_ mode: PipelineBenchmarkMode) -> String {
    let name = mode.words.padding(toLength: 16, withPad: " ", startingAt: 0)
    var text = "\(name) "
    if mode != .passthrough, let speed = result.median(mode, \.decisionsPerSecond),
      let cost = result.median(mode, \.processorPerMillionDecisions), let wall = result.median(mode, \.wallSeconds)
    {
      text += "\(Digits.grouped(Int(speed))) decisions/s in \(Digits.decimal(wall, 2)) s, "
      text += "\(Digits.decimal(cost, 2)) CPU-s a million, "
    }
    if let speed = result.median(mode, \.recordsPerSecond), let cost = result.median(mode, \.processorPerRecord) {
      text += "\(Digits.grouped(Int(speed))) records/s, \(Digits.decimal(cost, 2)) µs CPU a record"
    }
    if let peak = result.median(mode, { Double($0.peakBytes ?? 0) }), peak > 0 {
      text += ", \(Digits.grouped(Int(peak) >> 20)) MiB at most"
    }
    return text + "\n"
  }

  var json: [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    head.write(to: &json)
    json.members([
      ("fanOut", command.fleet.fanOut), ("events", events), ("alertPercent", command.fleet.alerts),
      ("commitIntervalMilliseconds", command.commitInterval),
    ])
    json.object("ratios") { json in
      for ratio in ratios {
        guard let value = ratio.value else { continue }
        json.key(ratio.key)
        json.rounded(value)
      }
    }
    json.array("medians", result.modes) { mode, json in write(median: mode, to: &json) }
    json.array("rounds", result.rounds) { round, json in write(round, to: &json) }
    json.endObject()
    return json.bytes
  }

  private func write(median mode: PipelineBenchmarkMode, to json: inout JSONWriter) {
    json.beginObject()
    json.member("mode", mode.rawValue)
    var figures: [(StaticString, Double?)] = [
      ("recordsPerSecond", result.median(mode, \.recordsPerSecond)),
      ("processorMicrosecondsPerRecord", result.median(mode, \.processorPerRecord)),
    ]
    if mode != .passthrough {
      figures += [
        ("decisionsPerSecond", result.median(mode, \.decisionsPerSecond)),
        ("processorSecondsPerMillionDecisions", result.median(mode, \.processorPerMillionDecisions)),
      ]
    }
    for (key, value) in figures {
      json.member(key, rounded: value ?? 0)
    }
    json.endObject()
  }

  private func write(_ round: PipelineRound, to json: inout JSONWriter) {
    json.beginObject()
    json.member("mode", round.mode.rawValue)
    json.member("wallSeconds", rounded: round.wallSeconds)
    json.member("processorSeconds", rounded: round.processorSeconds)
    json.member("outputRecords", round.outputRecords)
    if round.mode != .passthrough {
      json.members([
        ("logRecords", round.logRecords), ("decisions", round.decisions), ("commands", round.commands),
        ("stateRecords", round.stateRecords),
      ])
    }
    json.member("transactions", round.transactions)
    if let peak = round.peakBytes {
      json.member("memoryPeakBytes", peak)
    }
    json.endObject()
  }
}
