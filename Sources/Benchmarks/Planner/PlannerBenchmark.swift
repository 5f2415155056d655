import Domain
import Planning
package import Policies

/// Measures how fast a planner decides, without decoding its input or writing its output.
///
/// The fleet and the events are synthetic. The same parameters give the same decisions.
package struct PlannerBenchmark: Sendable {
  private let devices: Int
  private let instancesPerDevice: Int
  private let fanOut: Int
  private let decisionsMin: Int
  private let seed: UInt64

  /// The number of distinct subjects of events.
  private var subjects: Int { max(1, devices * instancesPerDevice / fanOut) }

  /// The number of events that are made at a time, before the clock starts: making events is not measured.
  private static let chunk = 4096
  /// The interval of sampling: reasons are counted for one event in this many, because counting costs about as much as
  /// deciding.
  private static let reasonSampling = 64

  /// Creates a benchmark.
  /// - Parameters:
  ///   - devices: the number of devices, at least 1.
  ///   - instancesPerDevice: the number of widgets on each device, at least 1.
  ///   - fanOut: the number of widgets that each event reaches, at least 1.
  ///   - decisionsMin: the number of decisions after which the run ends.
  ///   - seed: selects one of many orders of events.
  package init(
    devices: Int = 100_000, instancesPerDevice: Int = 3, fanOut: Int = 100, decisionsMin: Int = 5_000_000,
    seed: UInt64 = 1
  ) {
    precondition(devices > 0 && instancesPerDevice > 0 && fanOut > 0, "a fleet needs devices, widgets and a fan-out")
    self.devices = devices
    self.instancesPerDevice = instancesPerDevice
    self.fanOut = fanOut
    self.decisionsMin = decisionsMin
    self.seed = seed
  }

  /// The figures of a run.
  package struct Result: Sendable {
    /// The number of devices of the fleet.
    package var devices: Int
    /// The number of widgets on all devices.
    package var instances: Int
    /// The time that it took to register the fleet, in seconds.
    package var registrationSeconds: Double
    /// The number of decisions made.
    package var decisions: Int
    /// The number of commands that the decisions led to.
    package var commands: Int
    /// The time that it took to decide.
    package var seconds: Double
    /// Decisions per second of deciding.
    package var decisionsPerSecond: Double { Double(decisions) / seconds }
    /// The growth of the process's resident memory during registration, in bytes per device; nil if the system does
    /// not report it.
    package var stateBytesPerDevice: Double?
    /// The size of the planner's tables after registration, their room for growth included, in bytes per device.
    package var tableBytesPerDevice: Double
    /// The size of the planner's tables at the end of the run, pending changes included, in bytes per device.
    package var tableBytesPerDeviceAtEnd: Double
    /// The number of sampled decisions by reason, the most frequent first.
    package var reasons: [(reason: String, count: Int)]
  }

  /// The counts of a run in progress.
  private struct Counts {
    var decisions = 0
    var commands = 0
    var reasons: [String: Int] = [:]
  }

  /// Registers the fleet and plans events, on the calling thread.
  /// - Parameters:
  ///   - policy: the policy to decide by; see ``policyDocument``.
  ///   - clock: returns the seconds of a clock that never runs backwards.
  ///   - memory: returns the resident bytes of the process.
  package func run(
    policy: Policy, clock: () -> Double = MonotonicClock.seconds,
    memory: () -> Int? = { ProcessMemory.residentBytes }
  ) -> Result {
    var planner = Planner(policy: policy)
    var output = PlannerOutput()
    let before = memory()
    let registrationStart = clock()
    registerAll(&planner, &output)
    let registrationSeconds = clock() - registrationStart
    let tables = Double(planner.tableBytes) / Double(devices)
    let bytes = memory().flatMap { after in before.map { Double(after - $0) / Double(devices) } }
    var counts = Counts()
    var round = 0
    var seconds = 0.0
    while counts.decisions < decisionsMin {
      let events = (round..<round + Self.chunk).map(event)
      let start = clock()
      plan(events, from: round, &planner, &output, &counts)
      seconds += clock() - start
      round += Self.chunk
    }
    return Result(
      devices: devices, instances: devices * instancesPerDevice, registrationSeconds: registrationSeconds,
      decisions: counts.decisions, commands: counts.commands, seconds: seconds, stateBytesPerDevice: bytes,
      tableBytesPerDevice: tables, tableBytesPerDeviceAtEnd: Double(planner.tableBytes) / Double(devices),
      reasons: counts.reasons.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map { ($0.key, $0.value) })
  }

  /// Plans events as the worker of a pipeline does, until there are enough decisions.
  /// - Parameter first: the place of the first event in the sequence of all events.
  private func plan(
    _ events: [DomainEvent], from first: Int, _ planner: inout Planner, _ output: inout PlannerOutput,
    _ counts: inout Counts
  ) {
    var hashes: [EventHashes] = []
    for (place, event) in events.enumerated() where counts.decisions < decisionsMin {
      if place % Planner.prefetchMax == 0 {
        hashes.removeAll(keepingCapacity: true)
        for event in events[place...].prefix(Planner.prefetchMax) {
          hashes.append(EventHashes(event, key: planner.hashKey))
        }
        planner.prefetch(hashes.span)
      }
      let round = first + place
      planner.begin(
        .event(event), offset: Int64(devices + round), timestamp: time(round),
        hashes: hashes[place % Planner.prefetchMax])
      var done = false
      while !done {
        done = planner.advance(into: &output)
        counts.decisions += output.decisionCount
        counts.commands += output.commandCount
        if round % Self.reasonSampling == 0 {
          for reason in output.reasons { counts.reasons[reason, default: 0] += 1 }
        }
      }
    }
  }

  /// The log time of the registrations: 2026-07-01T12:00:00Z in microseconds.
  private static let start = Timestamp(microseconds: 1_782_907_200_000_000)

  /// Returns the log time of an event. Each subject changes 120 times a day, as an airport's delays do.
  private func time(_ round: Int) -> Timestamp {
    Self.start + TimeSpan(microseconds: 86_400_000_000 / Int64(120 * subjects)) * Int64(round)
  }

  private func registerAll(_ planner: inout Planner, _ output: inout PlannerOutput) {
    let zones = ["America/New_York", "America/Chicago", "America/Los_Angeles", "Europe/London", "Asia/Tokyo"]
    for device in 0..<devices {
      let widgets = (0..<instancesPerDevice).map { i in
        Registration.Widget(
          id: "w\(i)", kind: "Bench\(i % 3)",
          interests: ["s/\((device &* 7919 &+ i &* 104_729 &+ i &* (device / 13)) % subjects)"])
      }
      let registration = Registration(
        device: "device-\(device)", app: "com.example.bench", environment: .production, platform: "iOS",
        osVersion: OSVersion(major: 26), timeZone: zones[device % zones.count],
        tokens: Registration.Tokens(widgets: token(device), background: token(device + devices)), widgets: widgets,
        updatedAt: Self.start)
      planner.begin(.registration(registration), offset: Int64(device), timestamp: Self.start)
      while !planner.advance(into: &output) {}
    }
  }

  /// Returns 64 hexadecimal digits, as a push token has.
  private func token(_ number: Int) -> String {
    let digits = String(UInt64(number) &* 0x9e37_79b9_7f4a_7c15 | 1 << 63, radix: 16)
    return digits + digits + digits + digits
  }

  /// Returns an event of the sequence.
  /// - Parameter round: the event's place, from 0.
  private func event(_ round: Int) -> DomainEvent {
    let subject = (UInt64(round) &* 0x9e37_79b9_7f4a_7c15 &+ seed) % UInt64(subjects)
    let level = Double((UInt64(round) &* 0xbf58_476d_1ce4_e5b9 >> 40) % 100)
    return DomainEvent(
      id: "event-\(round)", source: "/bench", type: "bench.level.changed", subject: "s/\(subject)",
      time: time(round),
      fields: [
        EventField(path: "data.level", value: .number(level)),
        EventField(path: "data.previous", value: .number(Double(round % 50))),
      ])
  }

  /// The policy of the benchmark: three kinds of widgets, two of which display a level.
  package static let policyDocument = """
    version: bench.1
    profile: apple-2026
    kinds:
      Bench0:
        surface: widget
        budget: { perDay: 48, minInterval: 15m }
        halfLife: 20m
        displays: [ { field: data.level, round: 5 } ]
        rules:
          - event: bench.level.changed
            relevance: { base: 0.1, add: [ { changeOf: data.level, from: data.previous, per: 60, weight: 0.6 } ] }
      Bench1:
        surface: widget
        budget: { perDay: 48, minInterval: 5m }
        halfLife: 1h
        displays: [ { field: data.level, round: 5 } ]
        rules:
          - event: bench.level.changed
            relevance: { base: 0.1, add: [ { changeOf: data.level, from: data.previous, per: 60, weight: 0.6 } ] }
      Bench2:
        surface: widget
        budget: { perDay: 20, minInterval: 15m }
        halfLife: 20m
        rules:
          - event: bench.level.changed
            relevance: { base: 0.3 }
    """
}
