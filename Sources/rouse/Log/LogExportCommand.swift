import ArgumentParser
import Domain
import Foundation
import Installation
import JSON
import KafkaClient
import Operating
import Replay

/// `rouse log export`: writes the files that plans and backtests read, from the log of a cluster.
struct LogExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write registrations, events and signals of the log to files for plan and simulate.",
    discussion: """
      Reads the topic `rouse.log` from its beginning to its present end, and writes the files that `rouse plan`, \
      `rouse simulate` and `rouse audit objectives` take: the newest registration of each device, its signals, and every event \
      once. It commits nothing, joins no group and writes to no topic.

      Events and signals carry the member rouselogtime, the time at which the planner had them; plan and simulate then decide \
      at that time. With --sample, a part of the devices is taken, the same that --sample of `rouse simulate` and of \
      `rouse audit objectives` chooses; events are always complete. With --from and --to, events and signals of a span of log \
      time are taken, with the registrations in force at its end.

      When the brokers have removed the oldest records of the log, devices that registered before are taken from the topic \
      `rouse.devices`, with their present registration; those that registered again after --to are left out.

      In place of push tokens stand hashes with a key that is forgotten at the end. New files are for their owner alone \
      (0600). Registrations and signals of the sample are sorted in the temporary folder (TMPDIR); memory is about 100 bytes \
      for each sampled device.

      EXAMPLE
        rouse log export --config rouse.yaml --devices devices.jsonl.gz \\
          --events events.jsonl.gz --signals signals.jsonl.gz --sample 0.01 \\
          --from 2026-11-01T00:00:00Z --to 2026-11-15T00:00:00Z
        rouse simulate --policy policy.yaml --devices devices.jsonl.gz \\
          --events events.jsonl.gz --signals signals.jsonl.gz
      """)

  @Option(help: ArgumentHelp("Where to write the registrations.", valueName: "file"))
  var devices: String
  @Option(help: ArgumentHelp("Where to write the events.", valueName: "file"))
  var events: String
  @Option(help: ArgumentHelp("Where to write the signals.", valueName: "file"))
  var signals: String
  @Option(help: ArgumentHelp("Share of the devices to take, by a hash of their ids.", valueName: "share"))
  var sample = 1.0
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var settings: SettingsOptions
  @OptionGroup var output: FormatOption

  func validate() throws {
    if !(sample > 0 && sample <= 1) {
      throw ValidationError("--sample: found \(sample), expected more than 0 and at most 1, such as 0.01")
    }
    try Files.checkDistinct(
      outputs: [("--devices", devices), ("--events", events), ("--signals", signals)], inputs: [])
  }

  func run() throws {
    let settings = try settings.resolve().connected()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rouse-log-export-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let export = try LogExport(
      LogExportOptions(
        devices: devices, events: events, signals: signals, sample: DeviceSample(sample), from: time.from,
        to: time.to ?? .distantFuture, spoolFolder: folder.path), conceal: Self.concealing())
    let isCut = try read(settings, into: export)
    let summary = try export.finish()
    try tell(summary, isCut: isCut)
  }

  /// Returns a function that hashes push tokens with a new key: hexadecimal, as tokens are, and equal for equal tokens.
  private static func concealing() -> (String) -> String {
    var random = SystemRandomNumberGenerator()
    let key = SHA256.AuthenticationKey((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    return { key.hexAuthenticationCode(of: Array($0.utf8)) }
  }

  /// Reads the log, and the devices if the log is not complete.
  /// - Returns: Whether the oldest records of the log are gone.
  private func read(_ settings: ClusterSettings, into export: LogExport) throws -> Bool {
    let line = ProgressLine()
    defer { line.end() }
    let reader = TopicReader(settings: settings)
    let isCut = try reader.read(settings.topics.log) { message in
      guard let value = message.value else { return }
      export.take(
        value, key: message.key, partition: message.partition, offset: message.offset,
        timestamp: Timestamp(milliseconds: message.timestampMilliseconds ?? 0))
      let progress = export.progress(every: 10_000)
      if let progress { line.show("\(Digits.grouped(progress.records)) records, up to \("\(progress.time)")") }
    }
    if let newer = export.newerRecord {
      throw Failure("\(settings.topics.log): \(newer); use the program of that release")
    }
    guard isCut else { return false }
    let decoder = RegistrationDecoder()
    var refused = 0
    _ = try reader.read(settings.topics.devices) { message in
      guard let value = message.value else {
        if let key = message.key { export.completeRemoval(of: Identifier(decoding: key)) }
        return
      }
      do throws(DomainError) {
        export.complete(try decoder.decode(value, key: message.key))
      } catch {
        // Intake has made a dead letter of it.
        refused += 1
      }
    }
    if refused > 0 {
      Words.say("\(settings.topics.devices): \(Digits.count(refused, "record is", "records are")) no registration")
    }
    return true
  }

  private func tell(_ summary: LogExportSummary, isCut: Bool) throws {
    switch output.format {
    case .text:
      var words: PrintableText =
        "\(Digits.count(summary.devices, "device")), \(Digits.count(summary.events, "event")), \(Digits.count(summary.signals, "signal"))"
      if let first = summary.first, let last = summary.last { words += ", \("\(first)") to \("\(last)")" }
      Words.say(words)
    case .json: Words.say(json: summary.json(isCut: isCut))
    }
    if isCut {
      Words.say(
        "the oldest records of the log are gone; \(Digits.count(summary.completed, "device")) taken from the topic of devices"
      )
    }
    if summary.removed > 0 {
      let devices = Digits.count(summary.removed, "device was", "devices were")
      Words.say("\(devices) removed later; a plan keeps them to the end")
    }
    if summary.policies > 0 {
      let times = Digits.count(summary.policies, "time")
      Words.say("the policy changed \(times) after the first event; a plan has one policy: see --from and --to")
    }
    if let first = summary.firstUnreadable {
      Words.say("\(Digits.count(summary.unreadable, "record")) could not be read, the first: \("\(first)")")
    }
    if summary.events == 0 { Words.say("no event in that time") }
  }
}

extension LogExportSummary {
  fileprivate func json(isCut: Bool) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("devices", devices)
    json.member("events", events)
    json.member("signals", signals)
    json.member("from", first.map { "\($0)" })
    json.member("to", last.map { "\($0)" })
    json.member("logIsCut", isCut)
    json.member("completedDevices", completed)
    json.member("removedDevices", removed)
    json.member("policyChanges", policies)
    json.member("unreadable", unreadable)
    json.endObject()
    return json.bytes
  }
}
