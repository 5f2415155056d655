import Domain
import JSON
public import LineFiles
public import Planning

/// Plans files without Kafka: registrations first, then events and signals merged by time, each a log record of one
/// partition with rising offsets, and ticks wherever a timer is due. The same files and policy give the same bytes.
public struct PlanRun: ~Copyable {
  /// How far a run is.
  public struct Progress: Sendable {
    public var events: Int
    public var decisions: Int
    /// Of the file that is being read: the devices', then the events'.
    public var bytesConsumed: Int64
    public var bytesTotal: Int64?
  }

  private let options: PlanOptions
  private var planner: Planner
  private var output = PlannerOutput()
  private var offset: Int64 = 0
  private var sinks: PlanSinks
  private var tally = PlanTally()
  private var summary = PlanSummary()
  private var zombies: Set<Zombie> = []
  private var nextZombieLook: Int64 = .min
  private let progress: (Progress) -> Void
  private let observe: ((PlannerOutput, borrowing Planner) throws -> Void)?

  /// Records between two reports of progress.
  private static let progressEvery = 1024
  /// Records after which the planner forgets what a commit would write, so that memory does not grow with the log.
  private static let forgetEvery: Int64 = 1 << 22
  /// Log time between two looks for zombies, µs.
  private static let zombieLookEvery: Int64 = 4 * 3600 * 1_000_000
  /// Decisions of one step; bounds the memory of a large fan-out.
  private static let stepDecisionsMax = 65_536

  /// Opens the output files.
  /// - Parameters:
  ///   - progress: is told now and then how far the run is.
  ///   - observe: is given every step's output and the planner that can write it out.
  public init(
    _ options: PlanOptions, progress: @escaping (Progress) -> Void = { _ in },
    observe: ((PlannerOutput, borrowing Planner) throws -> Void)? = nil
  ) throws(LineFileError) {
    self.options = options
    self.progress = progress
    self.observe = observe
    planner = Planner(policy: options.policy)
    sinks = try PlanSinks(options)
  }

  /// Plans everything. Output files get their names when all is done; after an error there are none. Throws
  /// `LineFileError` or what `observe` threw.
  public consuming func run() throws -> PlanSummary {
    var events = try PlanInput.events(path: options.events)
    var signals = try options.signals.map { (path) throws(LineFileError) in try PlanInput.signals(path: path) }
    var event = try next(&events)
    var signal = try next(&signals)
    let start = [event?.time, signal?.time].compactMap { $0 }.min()
    try register(at: start)
    summary.first = start
    while event != nil || signal != nil {
      // At the same instant what the device says comes first: it was so when the event came.
      if let given = signal, given.time <= event?.time ?? given.time {
        summary.signals += 1
        try apply(.signal(given), at: given.time)
        signal = try next(&signals)
      } else if let given = event {
        summary.events += 1
        try apply(.event(given), at: given.time)
        if summary.events % Self.progressEvery == 0 { report(events.bytesConsumed, events.bytesTotal) }
        event = try next(&events)
      }
    }
    report(events.bytesConsumed, events.bytesTotal)
    lookForZombies()
    try drain()
    try sinks.close()
    finishSummary()
    return summary
  }

  private mutating func next(_ events: inout PlanInput<DomainEvent>) throws(LineFileError) -> DomainEvent? {
    try events.next { (letter) throws(LineFileError) in try refuse(letter, \.refusedEvents) }
  }

  private mutating func next(_ signals: inout PlanInput<Signal>?) throws(LineFileError) -> Signal? {
    try signals?.next { (letter) throws(LineFileError) in try refuse(letter, \.refusedSignals) }
  }

  private mutating func refuse(
    _ letter: DeadLetter, _ count: WritableKeyPath<PlanSummary, Int>
  ) throws(LineFileError) {
    summary.deadLetters += 1
    summary[keyPath: count] += 1
    if summary.firstDeadLetters.count < PlanSummary.firstDeadLettersMax { summary.firstDeadLetters.append(letter) }
    try sinks.write(letter)
  }

  /// All at the time of the first event or signal: log time must not run ahead of them. Without any, at their own time.
  private mutating func register(at start: Timestamp?) throws {
    var devices = try PlanInput.registrations(path: options.devices)
    while let registration = try devices.next(refused: { (letter) throws(LineFileError) in
      try refuse(letter, \.refusedRegistrations)
    }) {
      summary.registrations += 1
      let time = (start ?? registration.updatedAt).microseconds
      try step(.registration(registration), at: time)
      for channel in registration.channels() { try step(.registration(channel), at: time) }
      if summary.registrations % Self.progressEvery == 0 { report(devices.bytesConsumed, devices.bytesTotal) }
    }
  }

  /// Ticks up to the record's time, then the record.
  private mutating func apply(_ content: LogRecord.Content, at time: Timestamp) throws {
    if time < planner.now { summary.outOfOrder += 1 }
    // A timer that is due at the record's own time is fired by the record.
    try tick(before: time.microseconds)
    try step(content, at: time.microseconds)
    summary.last = max(summary.last ?? time, time)
  }

  private mutating func tick(before time: Int64) throws {
    while let due = planner.nextTimer, due < time {
      summary.ticks += 1
      try step(.tick, at: due)
    }
  }

  private mutating func drain() throws {
    guard let drain = options.drain, let last = summary.last else { return }
    try tick(before: last.microseconds &+ drain.microseconds &+ 1)
  }

  private mutating func step(_ content: LogRecord.Content, at time: Int64) throws {
    planner.begin(content, offset: offset, timestamp: time)
    offset += 1
    var done = false
    while !done {
      done = planner.advance(into: &output, decisionsMax: Self.stepDecisionsMax)
      if output.decisionCount + output.commandCount == 0 { continue }
      tally.count(output)
      try sinks.write(output, of: planner)
      try observe?(output, planner)
    }
    if planner.now.microseconds >= nextZombieLook { lookForZombies() }
    if offset % Self.forgetEvery == 0 { planner.takeChanges { _, _ in } }
  }

  /// A zombie is one from half an hour to eight hours after its start: a look every four hours of log time finds it.
  private mutating func lookForZombies() {
    for zombie in planner.zombies() where zombies.insert(zombie).inserted {
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
