import Domain
public import LineFiles
import Planning
import Policies

/// Replays registrations and events through any number of policies in one pass, works out what hindsight would have
/// done, and compares. The same files and policies give the same report.
public struct SimulationRun: ~Copyable {
  /// How far a run is.
  public struct Progress: Sendable {
    public enum Stage: Sendable { case registering, planning, measuring }
    public var stage: Stage
    public var count: Int
    /// Of the file that is being read, or of the instances that are measured.
    public var done: Int64
    public var total: Int64?
  }

  private let options: SimulationOptions
  private let progress: (Progress) -> Void
  private var lanes: [SimulationLane]
  private var collector: StreamCollector
  private var report = SimulationReport()

  private static let progressEvery = 1024
  /// As long as anything of the last event can still be worth a reload.
  private static let drain = 48 * LocalDays.hour

  /// - Parameter progress: is told now and then how far the run is.
  public init(_ given: SimulationOptions, progress: @escaping (Progress) -> Void = { _ in }) {
    precondition(!given.candidates.isEmpty, "a simulation needs a policy")
    var options = given
    if let views = given.views {
      for candidate in options.candidates.indices {
        for kind in options.candidates[candidate].policy.kinds.indices {
          options.candidates[candidate].policy.kinds[kind].views = views
        }
      }
    }
    self.options = options
    self.progress = progress
    lanes = options.candidates.map { SimulationLane($0) }
    collector = StreamCollector(policy: options.candidates[0].policy, instancesMax: options.instancesMax)
  }

  public consuming func run() throws(LineFileError) -> SimulationReport {
    var events = try PlanInput.events(path: options.events)
    var event = try next(&events)
    let measured = try register(at: event?.time)
    report.first = event?.time
    var now = Int64.min
    while let given = event {
      report.events += 1
      now = max(now, given.time.microseconds)
      report.last = Timestamp(microseconds: now)
      collector.add(given, now: now)
      for lane in lanes.indices {
        lanes[lane].tick(before: now, measured)
        lanes[lane].step(.event(given), at: now, measured)
      }
      if report.events % Self.progressEvery == 0 {
        progress(
          Progress(
            stage: .planning, count: report.events, done: events.bytesConsumed, total: events.bytesTotal))
      }
      event = try next(&events)
    }
    if now != .min { for lane in lanes.indices { lanes[lane].tick(before: now + Self.drain, measured) } }
    measure()
    return report
  }

  private mutating func next(_ events: inout PlanInput<DomainEvent>) throws(LineFileError) -> DomainEvent? {
    try events.next { (letter) throws(LineFileError) in refuse(letter) }
  }

  private mutating func refuse(_ letter: DeadLetter) {
    report.deadLetters += 1
    if report.firstDeadLetter == nil { report.firstDeadLetter = letter }
  }

  private mutating func register(at start: Timestamp?) throws(LineFileError) -> MeasuredInstances {
    var devices = try PlanInput.registrations(path: options.devices)
    let nothing = MeasuredInstances([])
    while let registration = try devices.next(refused: { (letter) throws(LineFileError) in refuse(letter) }) {
      report.devices += 1
      collector.register(registration)
      let time = (start ?? registration.updatedAt).microseconds
      for lane in lanes.indices { lanes[lane].step(.registration(registration), at: time, nothing) }
      if report.devices % Self.progressEvery == 0 {
        progress(
          Progress(
            stage: .registering, count: report.devices, done: devices.bytesConsumed, total: devices.bytesTotal))
      }
    }
    return MeasuredInstances(collector.streams)
  }

  // MARK: Measuring

  private mutating func measure() {
    report.instances = collector.instancesSeen
    report.measured = collector.streams.count
    report.commands = lanes.map {
      SimulationReport.Commands(name: $0.name, decisions: $0.decisions, commands: $0.commands)
    }
    let yardstick = options.candidates[0].policy
    for kind in yardstick.kinds {
      var contest = Contest(kind: kind, lanes: lanes, baselines: options.baselines)
      for (index, stream) in collector.streams.enumerated() where stream.kind == kind.name {
        contest.add(stream, index: index, lanes: lanes)
        progress(
          Progress(stage: .measuring, count: index, done: Int64(index), total: Int64(collector.streams.count)))
      }
      if contest.instanceDays > 0 { report.kinds.append(contest.result) }
    }
  }
}
