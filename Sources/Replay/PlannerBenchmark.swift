import Domain
import Planning
public import Policies

/// How fast a planner decides, without decoding its input or writing out its output.
public struct PlannerBenchmark: Sendable {
  public var devices: Int
  public var instancesPerDevice: Int
  /// Instances that each event reaches.
  public var fanOut: Int
  public var decisionsMin: Int
  public var seed: UInt64

  public init(
    devices: Int = 100_000, instancesPerDevice: Int = 3, fanOut: Int = 100, decisionsMin: Int = 5_000_000,
    seed: UInt64 = 1
  ) {
    self.devices = devices
    self.instancesPerDevice = instancesPerDevice
    self.fanOut = fanOut
    self.decisionsMin = decisionsMin
    self.seed = seed
  }

  public struct Result: Sendable {
    public var devices: Int
    public var instances: Int
    public var registrationSeconds: Double
    public var decisions: Int
    public var commands: Int
    public var seconds: Double
    public var decisionsPerSecond: Double { Double(decisions) / seconds }
    /// Bytes by which the resident memory of the process grew per device while they registered; nil where the system does
    /// not tell.
    public var stateBytesPerDevice: Double?
    /// Bytes of the planner's tables per device, room for growth included: after the registrations, and at the end, with
    /// what waits.
    public var tableBytesPerDevice: Double
    public var tableBytesPerDeviceAtEnd: Double
    /// Decisions by reason, most frequent first.
    public var reasons: [(reason: String, count: Int)]
  }

  /// Runs on the calling thread. `clock` gives seconds, `memory` the resident bytes of the process.
  public func run(policy: Policy, clock: () -> Double, memory: () -> Int?) -> Result {
    var planner = Planner(policy: policy)
    var output = PlannerOutput()
    let subjects = max(1, devices * instancesPerDevice / fanOut)
    let before = memory()
    let registrationStart = clock()
    registerAll(&planner, &output, subjects: subjects)
    let registrationSeconds = clock() - registrationStart
    let tables = Double(planner.tableBytes) / Double(devices)
    let bytes = memory().flatMap { after in before.map { Double(after - $0) / Double(devices) } }
    var decisions = 0
    var commands = 0
    var offset = Int64(devices)
    var reasons: [String: Int] = [:]
    // Each subject changes 120 times a day, as an airport's delays do.
    let step = 86_400_000_000 / Int64(120 * subjects)
    var time = Self.start
    var seconds = 0.0
    var round = 0
    while decisions < decisionsMin {
      // Making the events is not what is measured.
      let chunk = (0..<4096).map { i in
        let subject = Int((UInt64(round + i) &* 0x9e37_79b9_7f4a_7c15 &+ seed) % UInt64(subjects))
        return event(round + i, subject: subject, time: time + Int64(i) * step)
      }
      let start = clock()
      for (place, event) in chunk.enumerated() where decisions < decisionsMin {
        // As the worker of a pipeline does.
        if place % Planner.hintsMax == 0 {
          planner.prefetch(chunk[place...].prefix(Planner.hintsMax).map { LookUpHint($0) })
        }
        planner.begin(.event(event), offset: offset, timestamp: time)
        var done = false
        while !done {
          done = planner.advance(into: &output)
          decisions += output.decisionCount
          commands += output.commandCount
          if round % 64 == 0 { for reason in output.reasons { reasons[reason, default: 0] += 1 } }
        }
        offset += 1
        time += step
        round += 1
      }
      seconds += clock() - start
    }
    return Result(
      devices: devices, instances: devices * instancesPerDevice, registrationSeconds: registrationSeconds,
      decisions: decisions, commands: commands, seconds: seconds, stateBytesPerDevice: bytes,
      tableBytesPerDevice: tables, tableBytesPerDeviceAtEnd: Double(planner.tableBytes) / Double(devices),
      reasons: reasons.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map { ($0.key, $0.value) })
  }

  private static let start: Int64 = 1_782_907_200_000_000

  private func registerAll(_ planner: inout Planner, _ output: inout PlannerOutput, subjects: Int) {
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
        updatedAt: Timestamp(microseconds: Self.start))
      planner.begin(.registration(registration), offset: Int64(device), timestamp: Self.start)
      while !planner.advance(into: &output) {}
    }
  }

  private func token(_ number: Int) -> String {
    let digits = String(UInt64(number) &* 0x9e37_79b9_7f4a_7c15 | 1 << 63, radix: 16)
    return digits + digits + digits + digits
  }

  private func event(_ round: Int, subject: Int, time: Int64) -> DomainEvent {
    let level = Double((UInt64(round) &* 0xbf58_476d_1ce4_e5b9 >> 40) % 100)
    return DomainEvent(
      id: "event-\(round)", source: "/bench", type: "bench.level.changed", subject: "s/\(subject)",
      time: Timestamp(microseconds: time),
      fields: [
        EventField(path: "data.level", value: .number(level)),
        EventField(path: "data.previous", value: .number(Double(round % 50))),
      ])
  }

  /// The policy of the benchmark: three kinds with 48 tokens a day, priced, with a displayed level.
  public static let policyDocument = """
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
