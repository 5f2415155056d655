import Foundation
import Glibc
import Testing

/// The shell commands that end and start the real Kafka, from `ROUSE_FIRE_STOP` and `ROUSE_FIRE_START`; nil if one is missing.
private let brokerCommands: (stop: String, start: String)? = {
  let environment = ProcessInfo.processInfo.environment
  guard realKafka != nil, let stop = environment["ROUSE_FIRE_STOP"], let start = environment["ROUSE_FIRE_START"] else {
    return nil
  }
  return (stop, start)
}()

/// The durations of the outages in seconds, from `ROUSE_FIRE_OUTAGES=10,45,120`.
private let outages =
  ProcessInfo.processInfo.environment["ROUSE_FIRE_OUTAGES"]?.split(separator: ",").compactMap { UInt64($0) }
  ?? [10, 45, 120]

/// Outages of the whole broker. A client that waits for an answer, or for the coordinator of its group, gets it long after its own
/// time-out, when the broker is back.
@Suite(.serialized)
struct OutageTests {
  /// The time in seconds for which the processes are watched once the broker is back: clients give up what they asked for
  /// after 60 s at most.
  private static let watch = 90.0
  /// The time in seconds within which decisions must go on.
  private static let patience = 30.0

  /// Runs a shell command and waits for its end. `Process` would wait for the broker, too, that the command leaves behind.
  private func run(_ command: String) throws {
    let status = unsafe system("{ \(command)\n} </dev/null")
    try #require(status == 0, "\(command)")
  }

  /// Makes a fleet of four processes: intake and three planners, static members of their group.
  private func fleet(seed: UInt64, eventsPerSecond: Int) throws -> FireRange {
    var options = FireRange.Options(seed: seed)
    options.membership = "static"
    options.eventsPerSecond = eventsPerSecond
    let range = try FireRange(options, bootstrap: realKafka)
    try range.start("intake", roles: "intake,audit")
    for name in ["p0", "p1", "p2"] { try range.start(name, roles: "planner") }
    try #require(try range.register(), "\(range.complaints)")
    try #require(try range.spread(over: 3), "\(range.log)")
    return range
  }

  @Test(
    "after an outage of the broker, with and without load, no process has ended and decisions go on",
    .enabled(
      if: brokerCommands != nil,
      "needs a broker that it may end: give an address as ROUSE_TEST_BOOTSTRAP, and commands as ROUSE_FIRE_STOP and ROUSE_FIRE_START"
    ), arguments: outages)
  func outage(seconds: UInt64) throws {
    let commands = try #require(brokerCommands)
    // The two fleets share the broker and its outage. The second one has nothing to do until the broker is back.
    let busy = try fleet(seed: seconds, eventsPerSecond: 20)
    let idle = try fleet(seed: 1000 + seconds, eventsPerSecond: 2)
    let ranges = [busy, idle]
    #expect(try idle.drained(timeout: 60), "\(idle.log)")
    let ends = try ranges.map { range in
      range.note("the broker goes down for \(seconds) s")
      return try range.decisionEnds()
    }
    try run(commands.stop)
    try busy.publish(seconds: Double(seconds))
    try run(commands.start)
    let back = Date()
    var pending = zip(ranges, ends).map { (range: $0, first: $0.published, ends: $1) }
    for range in ranges { range.note("the broker is back") }
    while Date().timeIntervalSince(back) < Self.watch {
      try busy.publish(seconds: 1)
      // One event is enough to see that the idle fleet decides again.
      if idle.published == pending.first(where: { $0.range === idle })?.first { try idle.publish(seconds: 1) }
      let passed = Date().timeIntervalSince(back)
      pending.removeAll { range, first, ends in
        guard range.decides(eventFrom: first, after: ends) else { return false }
        range.note("decisions go on")
        print(
          "fire, \(seconds) s without a broker, \(range === busy ? "busy" : "idle"): decisions after \(Int(passed)) s")
        return true
      }
      #expect(pending.isEmpty || passed < Self.patience, "\(pending.map { $0.range.log })")
      let fallen = ranges.flatMap(\.fallen)
      try #require(fallen.isEmpty, "\(fallen)")
      if passed >= Self.patience { pending = [] }
    }
    for range in ranges { try range.conclude(drain: 90) }
  }
}
