package import Domain
import JSON
package import LineFiles

/// Writes the content of a log as the files that plans and backtests read: registrations, events and signals.
///
/// The newest registration of each sampled device is taken, its signals, and every event. Events and signals carry their log time
/// (`LogTime`), so that a plan decides when the planner did. Memory is bounded by the sampled devices, and by 256 KiB for each partition;
/// the rest waits in files.
package final class LogExport {
  private let options: LogExportOptions
  private let conceal: (String) -> String
  private let events: EventWriter
  private let registrations: RegistrationSpool
  private let signals: SignalSpool
  private var partitions: [Int32: Partition] = [:]
  private var json = JSONWriter(reserving: 1024)
  private var summary = LogExportSummary()
  /// The first error of a file. Nothing is taken after it.
  private var failure: LineFileError?
  /// The first record of a newer format.
  private var newerFormat: String?

  /// The partition whose copies of events are taken: each has one of every event.
  private static let eventPartition: Int32 = 0

  /// The state of one partition of the log.
  private struct Partition {
    /// The log time of the last record.
    var now = Timestamp.distantPast
    /// The highest offset of each source partition, so that records that intake repeated are dropped, as planners drop them.
    var origins: [SourcePartition: OriginMark] = [:]
  }

  /// A partition of a topic that intake reads.
  private struct SourcePartition: Hashable {
    var topic: String
    var partition: Int32
  }

  /// Holds the writer of events, which cannot be copied.
  private final class EventWriter {
    var lines: LineWriter
    init(path: String) throws(LineFileError) { lines = try LineWriter(path: path, isPrivate: true) }
  }

  /// Prepares an export.
  /// - Parameters:
  ///   - options: The part of the log, and the files.
  ///   - conceal: Returns the hexadecimal digits that stand for a push token in the files.
  /// - Throws: `LineFileError` if a file cannot be made.
  package init(_ options: LogExportOptions, conceal: @escaping (String) -> String) throws(LineFileError) {
    self.options = options
    self.conceal = conceal
    events = try EventWriter(path: options.events)
    registrations = try RegistrationSpool(folder: options.spoolFolder)
    signals = SignalSpool(folder: options.spoolFolder)
  }

  /// Returns how many records were taken, and the log time of the newest; nil for most records.
  /// - Parameter every: The number of records between two reports.
  package func progress(every: Int) -> (records: Int, time: Timestamp)? {
    guard summary.records % every == 0, let now = partitions.values.map(\.now).max() else { return nil }
    return (summary.records, now)
  }

  /// Takes a record of the log.
  /// - Parameters:
  ///   - value: The value of the record.
  ///   - key: The key: the device, or nil.
  ///   - partition: The number of its partition.
  ///   - offset: Its offset.
  ///   - timestamp: Its timestamp.
  package func take(_ value: [UInt8], key: [UInt8]?, partition: Int32, offset: Int64, timestamp: Timestamp) {
    summary.records += 1
    // As in planners, time never runs backwards.
    let time = max(partitions[partition]?.now ?? .distantPast, timestamp)
    partitions[partition, default: Partition()].now = time
    guard failure == nil else { return }
    if LogRecord.isEvent(value) {
      guard partition == Self.eventPartition, time < options.to else { return }
    } else if let key, !options.sample.holds(Identifier(decoding: key)) {
      return
    }
    do throws(BinaryError) {
      let (origin, content) = try LogRecord.parts(of: value)
      if let origin, !isNew(origin, in: partition) { return }
      do throws(LineFileError) { try take(content, at: time, partition: partition) } catch { failure = error }
    } catch {
      note(error, at: "log[\(partition)]@\(offset)")
    }
  }

  /// Takes a registration of the compacted topic, for a device that the log no longer has. The newest one counts.
  /// - Parameter registration: The registration.
  package func complete(_ registration: Registration) {
    guard failure == nil, options.sample.holds(registration.device) else { return }
    do throws(LineFileError) { try registrations.complete(registration.replacingTokens(conceal)) } catch {
      failure = error
    }
  }

  /// Takes the removal of a device from the compacted topic.
  /// - Parameter device: The device.
  package func completeRemoval(of device: Identifier) { registrations.completeRemoval(of: device) }

  /// Sorts what was taken, and gives all files their final names.
  /// - Returns: The counts.
  /// - Throws: `LineFileError` if a file could not be written; then not all files are new.
  package func finish() throws(LineFileError) -> LogExportSummary {
    if let failure { throw failure }
    var devices = try LineWriter(path: options.devices, isPrivate: true)
    try registrations.write(to: &devices)
    var ordered = try LineWriter(path: options.signals, isPrivate: true)
    try signals.write(to: &ordered)
    try devices.close()
    try events.lines.close()
    try ordered.close()
    summary.devices = registrations.count
    summary.completed = registrations.completedCount
    summary.removed = registrations.removedCount
    return summary
  }

  /// The place of the first record that a newer release wrote, with what is known of it; nil if there was none.
  package var newerRecord: String? { newerFormat }

  private func take(_ content: LogRecord.Content, at time: Timestamp, partition: Int32) throws(LineFileError) {
    let isInTime = time >= options.from ?? time
    guard time < options.to else {
      if case .registration(let registration) = content { registrations.noteLater(registration.device) }
      return
    }
    switch content {
    case .event(let event):
      // Also a record before the time is noted, because a repeat of it may come later.
      guard isInTime else { return }
      json.reset()
      event.encode(to: &json, logTime: time)
      try events.lines.append(json.bytes)
      try events.lines.endLine()
      summary.events += 1
      summary.note(time)
    case .registration(let registration):
      // A plan derives the registrations of channels from those of devices, as intake does.
      if registration.isChannel || !options.sample.holds(registration.device) { return }
      try registrations.add(registration.replacingTokens(conceal), at: time)
    case .forget(let device): registrations.remove(device, keeps: isInTime)
    case .signal(var signal):
      guard isInTime, options.sample.holds(signal.device) else { return }
      if case .tokenRejected(let token) = signal.kind {
        signal.kind = .tokenRejected(token: conceal(token.lowercased()))
      }
      json.reset()
      signal.encode(to: &json, source: "/rouse/log", logTime: time)
      try signals.add(json.bytes, at: time, partition: partition)
      summary.signals += 1
      summary.note(time)
    case .policy: if partition == Self.eventPartition, summary.events > 0 { summary.policies += 1 }
    // A plan has one partition, which settles by itself to whom a token belongs.
    case .claims, .tick: break
    }
  }

  private func isNew(_ origin: Origin, in partition: Int32) -> Bool {
    let source = SourcePartition(topic: origin.topic, partition: origin.partition)
    return partitions[partition, default: Partition()].origins[source, default: OriginMark(before: origin)].note(origin)
  }

  private func note(_ error: BinaryError, at place: String) {
    if case .newerVersion = error {
      newerFormat = newerFormat ?? "\(place): \(error)"
      return
    }
    summary.unreadable += 1
    if summary.firstUnreadable == nil { summary.firstUnreadable = "\(place): \(error)" }
  }
}

/// The part of a log that an export takes, and the files that it writes.
package struct LogExportOptions: Sendable {
  /// The path for the registrations.
  package var devices: String
  /// The path for the events.
  package var events: String
  /// The path for the signals.
  package var signals: String
  /// The devices to take.
  package var sample: DeviceSample
  /// The first log time to take events and signals from; nil for the beginning of the log.
  package var from: Timestamp?
  /// The first log time that is not taken any more.
  package var to: Timestamp
  /// The folder for what is sorted on the way: registrations and signals of the sample. Nobody else may read it.
  package var spoolFolder: String

  /// Describes an export.
  /// - Parameters:
  ///   - devices: The path for the registrations.
  ///   - events: The path for the events.
  ///   - signals: The path for the signals.
  ///   - sample: The devices to take.
  ///   - from: The first log time to take events and signals from; nil for the beginning of the log.
  ///   - to: The first log time that is not taken any more.
  ///   - spoolFolder: A folder of the caller, who removes it.
  package init(
    devices: String, events: String, signals: String, sample: DeviceSample, from: Timestamp?, to: Timestamp,
    spoolFolder: String
  ) {
    self.devices = devices
    self.events = events
    self.signals = signals
    self.sample = sample
    self.from = from
    self.to = to
    self.spoolFolder = spoolFolder
  }
}

/// The counts of an export.
package struct LogExportSummary: Sendable, Equatable {
  /// The number of log records that were read, over all partitions.
  package var records = 0
  /// The number of registrations that were written.
  package var devices = 0
  /// The devices among them that were removed later.
  package var removed = 0
  /// The devices among them that the log no longer had.
  package var completed = 0
  /// The number of events that were written.
  package var events = 0
  /// The number of signals that were written.
  package var signals = 0
  /// The number of policies that came into force after the first event. A plan has one policy.
  package var policies = 0
  /// The number of records that could not be read.
  package var unreadable = 0
  /// The place of the first of them, and what was wrong.
  package var firstUnreadable: String?
  /// The log time of the first event or signal that was written.
  package var first: Timestamp?
  /// The log time of the last one.
  package var last: Timestamp?

  /// Notes the log time of an event or signal that was written.
  mutating func note(_ time: Timestamp) {
    first = min(first ?? time, time)
    last = max(last ?? time, time)
  }
}
