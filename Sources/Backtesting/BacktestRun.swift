import Domain
public import LineFiles
import Planning
import Policies
import Replay

/// Replays registrations, events and signals through one or more policies in a single pass, computes the optimum in
/// hindsight, and compares. The same files and policies give the same report.
public struct BacktestRun: ~Copyable {
  /// The progress of a run.
  public struct Progress: Sendable {
    /// A part of a run.
    public enum Stage: Sendable { case registering, planning, measuring }
    /// The part of the run that is in progress.
    public var stage: Stage
    /// The number of devices registered, events planned, or instances measured so far.
    public var count: Int
    /// The bytes read from the current file, or the instances measured.
    public var done: Int64
    /// The size of the current file in bytes, or the number of instances to measure; nil if it is not known.
    public var total: Int64?
  }

  private let options: BacktestOptions
  private let progress: (Progress) -> Void
  private let reportDay: (BacktestDay) throws(LineFileError) -> Void
  private let replays: [CandidateReplay]
  private var collector: StreamCollector
  private var devices: ModelledDevices
  private var report = BacktestReport()

  /// The number of records between two reports of progress.
  private static let progressEvery = 1024
  /// The time after the last record for which timers still fire, µs. After two days no change is still worth a reload.
  private static let drain = 48 * LocalDays.hour

  /// Prepares a run.
  /// - Parameters:
  ///   - given: The inputs and at least one policy.
  ///   - progress: Receives the progress about every thousand records.
  ///   - reportDay: Receives each instance-day of each plan on which the truth of the screen changed. An error that it throws
  ///     ends the run.
  public init(
    _ given: BacktestOptions, progress: @escaping (Progress) -> Void = { _ in },
    reportDay: @escaping (BacktestDay) throws(LineFileError) -> Void = { _ in }
  ) {
    precondition(!given.candidates.isEmpty, "a backtest needs at least one policy")
    var options = given
    if let views = given.screens?.curve.hourly {
      for candidate in options.candidates.indices {
        for kind in options.candidates[candidate].policy.kinds.indices {
          options.candidates[candidate].policy.kinds[kind].views = views
        }
      }
    }
    self.options = options
    self.progress = progress
    self.reportDay = reportDay
    replays = options.candidates.map { CandidateReplay($0) }
    collector = StreamCollector(policy: options.candidates[0].policy, instancesMax: options.instancesMax)
    devices = ModelledDevices(given.deviceModel, screens: nil, streams: [])
  }

  /// Replays all records, measures every instance, and compares.
  /// - Returns: The report.
  /// - Throws: `LineFileError` if an input cannot be read, or the error of the receiver of days.
  public consuming func run() throws(LineFileError) -> BacktestReport {
    var events = try PlanInput.events(path: options.events)
    var signals = try options.signals.map { (path) throws(LineFileError) in try PlanInput.signals(path: path) }
    var event = try next(&events)
    var signal = try next(&signals)
    let start = [events.time, signals?.time].compactMap { $0 }.min()
    try register(at: start)
    report.first = start
    let measured = MeasuredInstances(collector.streams)
    var looks = equip(from: start?.microseconds ?? 0)
    var now = Int64.min
    while event != nil || signal != nil {
      // Signals come before events of the same instant: they describe the device as the event found it.
      let (eventTime, signalTime) = (events.time ?? .distantFuture, signals?.time ?? .distantFuture)
      let next = min(eventTime, signalTime).microseconds
      if let look = looks.next(upTo: next) {
        now = max(now, look.time.microseconds)
        say(look, now: now, measured)
      } else if let given = signal, signalTime <= eventTime {
        report.signals += 1
        now = max(now, next)
        say(given, now: now, measured)
        signal = try self.next(&signals)
      } else if let given = event {
        report.events += 1
        now = max(now, next)
        collector.add(given, now: now)
        step(.event(given), now: now, measured)
        tell(.planning, report.events, done: events.bytesConsumed, total: events.bytesTotal)
        event = try self.next(&events)
      }
      report.last = Timestamp(microseconds: now)
    }
    if now != .min {
      for replay in replays {
        replay.noteEnd(at: now, measured)
        replay.tick(before: now + Self.drain, measured)
      }
    }
    try measure()
    return report
  }

  /// Models the devices of the measured instances, and gives every replay their hidden budgets.
  /// - Returns: The signals that the devices send because people look at them, from `start` on.
  private mutating func equip(from start: Int64) -> LookSignals {
    devices = ModelledDevices(options.deviceModel, screens: options.screens, streams: collector.streams)
    for replay in replays {
      replay.equip(collector.streams, devices, objectiveShare: options.objectiveShare)
    }
    return LookSignals(options.deviceModel, looks: devices.looks, streams: collector.streams, from: start)
  }

  /// Reports the progress, once in every thousand records.
  private func tell(_ stage: Progress.Stage, _ count: Int, done: Int64, total: Int64?) {
    guard count % Self.progressEvery == 0 else { return }
    progress(Progress(stage: stage, count: count, done: done, total: total))
  }

  /// Passes a signal to the modelled devices and to every planner.
  private mutating func say(_ signal: Signal, now: Int64, _ measured: MeasuredInstances) {
    devices.note(signal, at: now)
    step(.signal(signal), now: now, measured)
  }

  /// Plans one record in every replay, after the timers and answers that are due before it.
  private mutating func step(_ content: LogRecord.Content, now: Int64, _ measured: MeasuredInstances) {
    for replay in replays {
      replay.tick(before: now, measured)
      replay.step(content, at: now, measured)
    }
  }

  private mutating func next(_ events: inout PlanInput<DomainEvent>) throws(LineFileError) -> DomainEvent? {
    try events.next { (line) throws(LineFileError) in refuse(line) }
  }

  private mutating func next(_ signals: inout PlanInput<Signal>?) throws(LineFileError) -> Signal? {
    try signals?.next { (line) throws(LineFileError) in refuse(line) }
  }

  private mutating func refuse(_ line: RefusedLine) {
    report.deadLetters += 1
    if report.firstDeadLetter == nil { report.firstDeadLetter = line }
  }

  /// Registers all devices at the time of the first event or signal, as `rouse plan` does.
  private mutating func register(at start: Timestamp?) throws(LineFileError) {
    var devices = try PlanInput.registrations(path: options.devices)
    let nothing = MeasuredInstances([])
    while let registration = try devices.next(refused: { (line) throws(LineFileError) in refuse(line) }) {
      report.devices += 1
      collector.register(registration)
      let time = (start ?? registration.updatedAt).microseconds
      for replay in replays { replay.register(registration, at: time, nothing) }
      tell(.registering, report.devices, done: devices.bytesConsumed, total: devices.bytesTotal)
    }
  }

  // MARK: Measuring

  /// Compares all plans kind by kind, by the rules of the first policy.
  private mutating func measure() throws(LineFileError) {
    report.instances = collector.instancesSeen
    report.measured = collector.streams.count
    report.deviceModel = options.deviceModel
    let yardstick = options.candidates[0].policy
    for kind in yardstick.kinds {
      var comparison = KindComparison(kind: kind, replays: replays, devices: devices, baselines: options.baselines)
      for (index, stream) in collector.streams.enumerated() where stream.kind == kind.name {
        try comparison.add(stream, index: index, replays: replays, report: reportDay)
        progress(
          Progress(stage: .measuring, count: index, done: Int64(index), total: Int64(collector.streams.count)))
      }
      if comparison.isEmpty { continue }
      let example = comparison.example(collector.streams, replays: replays)
      report.kinds.append(comparison.result(example: example))
    }
    let shared = SharedLimitsComparison(collector.streams, devices: devices, kinds: yardstick.kinds)
    report.shared = replays.compactMap { shared.result($0) }
    report.commands = replays.map { replay in replay.summary(kinds: report.kinds) }
  }
}
