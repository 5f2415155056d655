import Domain
import JSON
public import LineFiles
public import Planning
import Policies

/// Plans events from files, without Kafka.
///
/// The run plans all registrations first, but for those that state a later log time. Then it merges these, events and signals by their
/// times and plans each as one record of a single log partition, with rising offsets. Whenever a timer is due between two records, it plans
/// a tick. The same files and policy give the same bytes. `PlanOptions.Log` describes the other log that a run can stand for.
public struct PlanRun: ~Copyable {
  /// The progress of a run.
  public struct Progress: Sendable {
    /// The number of events planned so far.
    public var events: Int
    /// The number of decisions made so far.
    public var decisions: Int
    /// The number of bytes read from the current file: the registrations at first, then the events.
    public var bytesConsumed: Int64
    /// The size of the current file in bytes; nil if it is not known.
    public var bytesTotal: Int64?
  }

  private let options: PlanOptions
  private var planner: Planner
  private var output = PlannerOutput()
  private var offset: Int64 = 0
  private var sinks: PlanSinks
  private var tally = PlanTally()
  private var summary = PlanSummary()
  private var looks: RecordedLooks?
  private var registered: Set<Identifier> = []
  private var zombies: Set<ZombieName> = []
  private var nextZombieLook: Int64 = .min
  /// The activities on the devices; nil if the files hold all that devices register.
  private var activities: ModelledActivities?
  private let progress: (Progress) -> Void
  private let observe: ((PlannerOutput, borrowing Planner) throws -> Void)?

  /// The number of records between two reports of progress.
  private static let progressEvery = 1024
  /// The number of records after which the planner drops the changes collected for a commit. No commit ever takes them
  /// here, so they would grow with the log.
  private static let forgetEvery: Int64 = 1 << 22
  /// The log time between two searches for zombies, in µs. One without a token is one from half an hour to eight hours after its start, so a
  /// search every four hours finds each. One whose newest push was refused may be none a moment later, so those of the end alone count.
  private static let zombieLookEvery: Int64 = 4 * 3600 * 1_000_000
  /// The largest number of decisions of one step; bounds the memory that a large fan-out needs.
  private static let stepDecisionsMax = 65_536

  /// Prepares a run and opens its output files.
  /// - Parameters:
  ///   - options: The inputs and outputs.
  ///   - progress: Receives the progress about every thousand records.
  ///   - observe: Receives the output of every step, and the planner that describes it. An error that it throws ends the
  ///     run.
  /// - Throws: `LineFileError` if an output file cannot be opened.
  public init(
    _ options: PlanOptions, progress: @escaping (Progress) -> Void = { _ in },
    observe: ((PlannerOutput, borrowing Planner) throws -> Void)? = nil
  ) throws(LineFileError) {
    self.options = options
    self.progress = progress
    self.observe = observe
    var policy = options.policy
    if let views = options.screens?.curve.hourly {
      for kind in policy.kinds.indices { policy.kinds[kind].views = views }
    }
    planner = Planner(policy: policy)
    if options.log == .replayed { offset = 1 }
    if options.registersActivities { activities = ModelledActivities() }
    sinks = try PlanSinks(options)
  }

  /// Plans all records. Output files get their final names at the end; after an error there are none.
  /// - Returns: The counts of the run.
  /// - Throws: `LineFileError` if a file cannot be read or written, or the error of the observer.
  public consuming func run() throws -> PlanSummary {
    var events = try PlanInput.events(path: options.events)
    var signals = try options.signals.map { (path) throws(LineFileError) in try PlanInput.signals(path: path) }
    var event = try next(&events)
    var signal = try next(&signals)
    var devices = try PlanInput.registrations(path: options.devices)
    var registration = try next(&devices)
    let start = [events.time, signals?.time].compactMap { $0 }.min()
    while let given = registration, let time = devices.time, time <= start ?? .distantFuture {
      // Log time must not run ahead of the first event. A replayed log has each registration at its own time.
      try step(given, at: logged(options.log == .own ? start ?? given.updatedAt : given.updatedAt))
      if summary.registrations % Self.progressEvery == 0 { report(devices.bytesConsumed, devices.bytesTotal) }
      registration = try next(&devices)
    }
    summary.first = start
    looks = options.screens.map { RecordedLooks($0, devices: registered) }
    while event != nil || signal != nil || registration != nil {
      // Signals come before events of the same instant: they describe the device as the event found it.
      let (eventTime, signalTime) = (events.time ?? .distantFuture, signals?.time ?? .distantFuture)
      let instant = min(eventTime, signalTime).microseconds
      if let given = registration, let time = devices.time, time <= min(eventTime, signalTime) {
        try tick(before: logged(time))
        if logged(time) < planner.now { summary.outOfOrder += 1 }
        try step(given, at: logged(time))
        registration = try next(&devices)
      } else if let look = looks?.signal(upTo: instant) {
        // Looks before the first record of the log are no part of it.
        if look.time >= start ?? look.time { try apply(.signal(look), at: look.time) }
      } else if let given = signal, signalTime <= eventTime {
        summary.signals += 1
        try apply(.signal(given), at: signalTime)
        signal = try next(&signals)
      } else if let given = event {
        summary.events += 1
        let inexactNumbers = planner.inexactNumbers.events
        try apply(.event(given), at: eventTime)
        if planner.inexactNumbers.events != inexactNumbers {
          try refuse(events.refused(.inexactNumber(at: planner.inexactNumbers.field)), \.refusedEvents)
        }
        if summary.events % Self.progressEvery == 0 { report(events.bytesConsumed, events.bytesTotal) }
        event = try next(&events)
      }
    }
    report(events.bytesConsumed, events.bytesTotal)
    lookForZombies(isEnd: true)
    try drain()
    try sinks.close()
    finishSummary()
    return summary
  }

  private mutating func next(_ events: inout PlanInput<DomainEvent>) throws(LineFileError) -> DomainEvent? {
    try events.next { (line) throws(LineFileError) in try refuse(line, \.refusedEvents) }
  }

  private mutating func next(_ signals: inout PlanInput<Signal>?) throws(LineFileError) -> Signal? {
    try signals?.next { (line) throws(LineFileError) in try refuse(line, \.refusedSignals) }
  }

  private mutating func refuse(
    _ line: RefusedLine, _ count: WritableKeyPath<PlanSummary, Int>
  ) throws(LineFileError) {
    summary.deadLetters += 1
    summary[keyPath: count] += 1
    if summary.firstDeadLetters.count < PlanSummary.firstDeadLettersMax { summary.firstDeadLetters.append(line) }
    try sinks.write(line)
  }

  private mutating func next(_ devices: inout PlanInput<Registration>) throws(LineFileError) -> Registration? {
    try devices.next { (line) throws(LineFileError) in try refuse(line, \.refusedRegistrations) }
  }

  /// Plans a registration of a file.
  private mutating func step(_ registration: Registration, at time: Timestamp) throws {
    summary.registrations += 1
    if options.screens != nil { registered.insert(registration.device) }
    try register(activities?.register(registration) ?? registration, at: time)
  }

  /// Plans a registration, and those of the channels to which its activities listen.
  private mutating func register(_ registration: Registration, at time: Timestamp) throws {
    try step(.registration(registration), at: time)
    for channel in registration.channels() { try step(.registration(channel), at: time) }
  }

  /// Plans the ticks that are due before a record, then the record.
  private mutating func apply(_ content: LogRecord.Content, at time: Timestamp) throws {
    let logged = logged(time)
    if logged < planner.now { summary.outOfOrder += 1 }
    // The record itself fires the timers that are due at its own time.
    try tick(before: logged)
    try step(content, at: logged)
    summary.last = max(summary.last ?? time, time)
  }

  /// Returns the time that a record gets in the log. In a replayed log it is a whole number of milliseconds, at least
  /// 1, as Kafka and intake write it.
  private func logged(_ time: Timestamp) -> Timestamp {
    switch options.log {
    case .own: time
    case .replayed: Timestamp(milliseconds: max(1, time.milliseconds))
    }
  }

  /// Plans a tick for each timer that is due before an instant, and what devices say by then of the activities that pushes started.
  private mutating func tick(before time: Timestamp) throws {
    guard options.log == .own else { return }
    while true {
      let due = planner.nextTimer ?? .distantFuture
      if let said = activities?.next, said <= due, said <= time {
        guard case .registration(let registration) = activities?.takeNext() else { continue }
        try register(registration, at: said)
      } else if due < time {
        summary.ticks += 1
        try step(.tick, at: due)
      } else {
        return
      }
    }
  }

  /// Fires the timers that are due within the drain time after the last record.
  private mutating func drain() throws {
    guard let drain = options.drain, let last = summary.last else { return }
    try tick(before: last + drain + TimeSpan(microseconds: 1))
  }

  /// Plans one record and writes out its decisions and commands.
  private mutating func step(_ content: LogRecord.Content, at time: Timestamp) throws {
    planner.begin(content, offset: offset, timestamp: time)
    offset += 1
    var done = false
    while !done {
      done = planner.advance(into: &output, decisionsMax: Self.stepDecisionsMax)
      if output.decisionCount + output.commandCount == 0 { continue }
      tally.count(output)
      if activities != nil { letDevicesAnswer() }
      try sinks.write(output, of: planner)
      try observe?(output, planner)
    }
    if planner.now.microseconds >= nextZombieLook { lookForZombies() }
    if offset % Self.forgetEvery == 0 { planner.takeChanges { _, _ in } }
  }

  /// Lets the devices show and end the activities of the commands of a step.
  private mutating func letDevicesAnswer() {
    for index in output.commands.indices where output.commands[index].push.surface.showsActivities {
      activities?.take(planner.command(index, of: output), ModelledActivities.Course())
    }
  }

  /// Adds the running activities that pushes do not update or end to the summary.
  /// - Parameter isEnd: Whether the last record has been planned.
  private mutating func lookForZombies(isEnd: Bool = false) {
    for zombie in planner.zombies() where isEnd || zombie.cause != .pushRefused {
      let name = ZombieName(device: zombie.device, subject: zombie.subject, kind: zombie.kind, since: zombie.since)
      guard zombies.insert(name).inserted else { continue }
      if summary.firstZombies.count < PlanSummary.firstZombiesMax { summary.firstZombies.append(zombie) }
    }
    nextZombieLook = planner.now.microseconds &+ Self.zombieLookEvery
  }

  private func report(_ bytesConsumed: Int64, _ bytesTotal: Int64?) {
    progress(
      Progress(
        events: summary.events, decisions: tally.decisions, bytesConsumed: bytesConsumed, bytesTotal: bytesTotal))
  }

  private mutating func finishSummary() {
    tally.fill(&summary)
    lookForZombies()
    summary.zombies = zombies.count
    summary.devices = planner.deviceCount
    summary.instances = planner.instanceCount
    summary.pending = planner.pendingCount
    summary.eventsWithKeysLeftOut = planner.keysLeftOut.events
  }
}

/// The activity that is a zombie, by whatever sign.
private struct ZombieName: Hashable {
  var device: Identifier
  var subject: Identifier
  var kind: Identifier
  var since: Timestamp
}

/// The recorded looks at registered devices as signals, in the order of their times.
private struct RecordedLooks {
  private let looks: [(at: Int64, device: Identifier)]
  private var next = 0

  /// Prepares the signals.
  /// - Parameters:
  ///   - screens: The recorded looks.
  ///   - devices: The registered devices. Looks at others are left out.
  init(_ screens: ScreenEvents, devices: Set<Identifier>) {
    looks = screens.phones.filter { devices.contains($0.key) }
      .flatMap { device, phone in phone.looks.map { ($0, device) } }
      .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
  }

  /// The time of the next look, µs; nil if there is none.
  var time: Int64? { next < looks.count ? looks[next].at : nil }

  /// Returns the next look at or before an instant as a signal, or nil if there is none.
  /// - Parameter instant: µs.
  mutating func signal(upTo instant: Int64) -> Signal? {
    guard let time, time <= instant else { return nil }
    next += 1
    return Signal(
      device: looks[next - 1].device, id: Identifier("look-\(next)"), time: Timestamp(microseconds: time),
      kind: .widgetViewed(instance: nil))
  }
}
