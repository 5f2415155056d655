import Foundation
import Glibc
import KafkaClient
import Testing

/// The address of a real Kafka, from `ROUSE_TEST_BOOTSTRAP=host:port`; nil if none is set.
let realKafka = ProcessInfo.processInfo.environment["ROUSE_TEST_BOOTSTRAP"]

/// The seeds, from `ROUSE_FIRE_SEEDS=1,2,3`: 2 runs with local snapshots, 3 with dynamic members.
private let seeds =
  ProcessInfo.processInfo.environment["ROUSE_FIRE_SEEDS"]?.split(separator: ",").compactMap { UInt64($0) }
  ?? (realKafka == nil ? [1] : [1, 2, 3])
/// The duration of each run under fire, from `ROUSE_FIRE_SECONDS`.
private let seconds = ProcessInfo.processInfo.environment["ROUSE_FIRE_SECONDS"].flatMap(Double.init) ?? 12

/// Real processes, killed and disturbed while events flow; then the books are recomputed from what they wrote.
///
/// The embedded broker shows records of a transaction before it is committed, also its state. If a planner is killed between
/// its state and the end of its transaction, the state of some devices is ahead of the position, and the next owner would
/// count from there. So on the embedded broker planners are killed at rest, ended in order, or killed in the middle of a
/// transaction whose state is not written yet (`FireRange.killInTransaction`). The injected errors are such as the client
/// retries by itself. Only intake, which has no transactions, is killed at any moment. Kills of planners at any moment,
/// zombies and abortable errors need isolation, and so a real Kafka.
@Suite(.serialized)
struct KilledProcessTests {
  @Test(
    "intake killed at any moment, planners at rest, a broker that stumbles: nothing is lost, nothing is spent twice")
  func embedded() throws {
    print(
      "fire: planners killed at any moment, and fencing, are not shown on the embedded broker, which isolates nothing; "
        + "give the address of a Kafka as ROUSE_TEST_BOOTSTRAP")
    var options = FireRange.Options(seed: seeds[0])
    options.keepsSnapshots = true
    options.producer = [("max.in.flight.requests.per.connection", "1")]
    let range = try FireRange(options)
    let broker = try #require(range.broker)
    try broker.setRoundTripTime(.milliseconds(10))
    try range.start("intake", roles: "intake,audit")
    try range.start("one", roles: "planner")
    try range.start("two", roles: "planner")
    try #require(try range.register(), "\(range.complaints)")
    try range.publish(seconds: 2)

    range.note("retriable errors")
    broker.pushRequestErrors(.endTransaction, [.coordinatorNotAvailable, .concurrentTransactions, .notCoordinator])
    broker.pushRequestErrors(.addPartitionsToTransaction, [.concurrentTransactions, .coordinatorLoading])
    broker.pushRequestErrors(.transactionOffsetCommit, [.coordinatorLoading, .notCoordinator])
    broker.pushRequestErrors(.produce, [.notLeader, .notEnoughReplicas, .requestTimedOut])
    try range.publish(seconds: range.random.seconds(0.5, 2))
    range.kill9("intake")
    try range.publish(seconds: range.random.seconds(0, 1))
    try range.start("intake", roles: "intake,audit")
    range.note("broker down for a second")
    try broker.setBrokerDown()
    Thread.sleep(forTimeInterval: 1)
    try broker.setBrokerUp()
    try range.publish(seconds: 1)

    // A planner ends in order while events flow.
    #expect(range.end("two") == nil)
    try range.publish(seconds: range.random.seconds(0.5, 1.5))
    try range.start("two", roles: "planner")
    try range.publish(seconds: 1)
    // A planner is killed at rest: no transaction is open, and the state is whole.
    #expect(try range.drained(timeout: 40), "\(range.log)\n\(range.complaints)")
    range.kill9("one")
    try range.start("three", roles: "planner")
    try range.publish(seconds: 2)
    try range.conclude()
  }

  /// Shows on the embedded broker, once repeated ids are dropped, that a planner that takes over decides what was not committed, and
  /// that a repeated id with other content, a violation, does not occur. So every event ends in one final decision, and every
  /// ledger recomputed from the commands is exact. Only a real Kafka shows that no reader sees what the killed transaction
  /// wrote, and that an owner that was only slow is fenced off.
  @Test("the books are right after one planner became three, two of which were killed in a transaction")
  func scaled() throws {
    var options = FireRange.Options(seed: seeds[0])
    options.partitions = 3
    options.commitIntervalMilliseconds = 600
    let range = try FireRange(options, bootstrap: realKafka)
    try range.start("intake", roles: "intake")
    try range.start("p0", roles: "planner")
    try #require(try range.register(), "\(range.complaints)")
    try #require(try range.spread(over: 1), "\(range.log)")
    for name in ["p1", "p2"] { try range.start(name, roles: "planner") }
    try #require(try range.spread(over: 3), "\(range.log)")
    for name in ["p1", "p2"] { try #require(try range.killInTransaction(name), "\(range.log)") }
    try #require(try range.spread(over: 1), "\(range.log)")
    try range.conclude()
  }

  @Test(
    "planners killed, replaced and multiplied at any moment, events in any order: nothing is lost, nothing is spent twice",
    .enabled(
      if: realKafka != nil,
      "needs isolation: give the address of an Apache Kafka as ROUSE_TEST_BOOTSTRAP"), arguments: seeds)
  func killed(seed: UInt64) throws {
    var options = FireRange.Options(seed: seed)
    options.keepsSnapshots = seed % 2 == 0
    options.membership = seed % 3 == 0 ? "dynamic" : "static"
    options.isDisordered = true
    let range = try FireRange(options, bootstrap: realKafka)
    try range.start("intake", roles: "intake,audit")
    try range.start("p0", roles: "planner", workers: 2)
    try #require(try range.register(), "\(range.complaints)")
    var next = 1
    let end = Date().addingTimeInterval(seconds)
    while Date() < end {
      try range.publish(seconds: range.random.seconds(0.1, 1.5))
      let planners = range.running.filter { $0.hasPrefix("p") }
      let victim = planners[Int(range.random.next(0...UInt64(planners.count - 1)))]
      switch range.random.next(0...9) {
      case 0...3:
        range.kill9(victim)
        // Under the same name the new process fences the old one at once; under another the old one has to time out.
        let name = range.random.next(0...1) == 0 ? victim : "p\(next)"
        next += 1
        try range.start(name, roles: "planner", workers: Int(range.random.next(1...2)))
      case 4...5:
        if let disorder = range.end(victim) { Issue.record("seed \(seed): \(disorder)") }
        try range.start(victim, roles: "planner")
      case 6...7 where planners.count < 3:
        try range.start("p\(next)", roles: "planner")
        next += 1
      case 6...7:
        if let disorder = range.end(victim) { Issue.record("seed \(seed): \(disorder)") }
      default:
        range.kill9("intake")
        try range.start("intake", roles: "intake,audit")
      }
    }
    try range.conclude(drain: 90)
  }

  @Test(
    "of two processes with one `instance` the first ends and says why; nothing is lost, nothing is spent twice",
    .enabled(
      if: realKafka != nil,
      "needs static members: give the address of an Apache Kafka as ROUSE_TEST_BOOTSTRAP"))
  func sameInstance() throws {
    var options = FireRange.Options(seed: seeds[0])
    options.membership = "static"
    let range = try FireRange(options, bootstrap: realKafka)
    try range.start("intake", roles: "intake,audit")
    try range.start("p0", roles: "planner", workers: 2)
    try #require(try range.register(), "\(range.complaints)")
    try #require(try range.spread(over: 1), "\(range.log)")
    try range.start("p1", roles: "planner", workers: 2, instance: "p0")
    let first = try #require(try range.publishUntilEnd(of: "p0"), "\(range.log)")
    #expect(first.status == 1)
    #expect(first.words.contains("rouse: another process has started with the same `instance`"), "\(first.words)")
    try #require(try range.spread(over: 1), "\(range.log)")
    try range.conclude()
  }

  @Test(
    "a planner frozen for longer than its session, then woken, changes nothing",
    .enabled(
      if: realKafka != nil,
      "needs fencing: give the address of an Apache Kafka as ROUSE_TEST_BOOTSTRAP"), arguments: seeds)
  func zombie(seed: UInt64) throws {
    var options = FireRange.Options(seed: seed)
    options.membership = seed % 3 == 0 ? "dynamic" : "static"
    // Transactions may outlive the session: fencing must not depend on their time-out.
    if seed % 2 == 0 { options.transactionTimeoutMilliseconds = 30_000 }
    let range = try FireRange(options, bootstrap: realKafka)
    try range.start("intake", roles: "intake,audit")
    try range.start("p0", roles: "planner", workers: 2)
    try range.start("p1", roles: "planner")
    try #require(try range.register(), "\(range.complaints)")
    try range.publish(seconds: range.random.seconds(4, 6))
    for _ in 0..<2 {
      let victim = "p\(range.random.next(0...1))"
      range.send(SIGSTOP, "SIGSTOP", to: victim)
      try range.publish(seconds: range.random.seconds(8, 11))
      range.send(SIGCONT, "SIGCONT", to: victim)
      try range.publish(seconds: range.random.seconds(2, 4))
    }
    try range.conclude(drain: 90)
  }
}
