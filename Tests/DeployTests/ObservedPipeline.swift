import Foundation
import GRDB
import KafkaClient
import Testing

/// A pipeline on an embedded broker with steady traffic, and a Prometheus that watches it by the scaled rules.
///
/// One process has the roles intake and audit, the other one plans. The broker, its topics and the publisher are in the test.
final class ObservedPipeline {
  /// An alert that began to fire.
  struct Firing {
    var alert: String
    /// The labels of the series, such as `instance`.
    var labels: String
    /// Seconds since the fault.
    var seconds: Double
  }

  let broker: EmbeddedBroker
  private let folder = try? TemporaryFolder()
  private let producer: KafkaProducer
  private var processes: [String: Program] = [:]
  private var addresses: [String: String] = [:]
  private var prometheus: PrometheusServer?
  private var published = 0
  /// Whether every second event is broken.
  var isPoisoned = false
  private var lock: DatabaseQueue?

  private static let partitions = 2
  /// Makes the broker with its topics, and starts everything.
  /// - Parameters:
  ///   - divisor: the scale of the rules.
  ///   - tool: Prometheus.
  /// - Throws: when something does not start.
  init(dividedBy divisor: Int, _ tool: Tool) throws {
    broker = try EmbeddedBroker()
    try ScoreSample.createTopics(broker, partitions: Self.partitions)
    producer = try KafkaProducer(
      KafkaConfiguration([
        ("bootstrap.servers", broker.bootstrapServers), ("linger.ms", "2"), ("message.timeout.ms", "300000"),
        ("partitioner", "murmur2_random"),
      ]))
    let folder = try #require(folder)
    // One push in 40 seconds: the tokens that can be spent at once last for five minutes, longer than the story, so that an
    // alert about missing pushes ends.
    let policy = ScoreSample.policy(pushesPerHour: 90, burst: 1)
    try Data(policy.utf8).write(to: folder.url.appending(path: "policy.yaml"))
    for device in 0..<20 {
      let json = ScoreSample.registration(device)
      try producer.send(topic: "rouse.devices", key: Array("d\(device)".utf8), value: Array(json.utf8))
    }
    try start("front", roles: "intake,audit")
    try start("planner", roles: "planner")
    prometheus = try PrometheusServer(
      addresses.values.sorted(), rules: try ScaledRules(dividedBy: divisor).text, in: folder, tool)
  }

  /// Starts a process. One that ran before gets the address that it had.
  func start(_ name: String, roles: String) throws {
    let folder = try #require(folder)
    let settings = [
      "kafka.bootstrapServers=\(broker.bootstrapServers)", "topics.events=events", "roles=\(roles)",
      "kafka.properties=session.timeout.ms=6000,heartbeat.interval.ms=1000", "membership=dynamic", "instance=\(name)",
      "planner.workers=1", "policy=policy.yaml", "audit.store=audit.sqlite",
      "http.listen=\(addresses[name] ?? "127.0.0.1:0")",
    ]
    let program = try Program(Tool.rouse, ["run"] + settings.flatMap { ["--set", $0] }, in: folder.url)
    processes[name] = program
    addresses[name] = try program.waitFor(/http:\/\/(127\.0\.0\.1:\d+)\/metrics/)
  }

  func kill9(_ name: String) { processes[name]?.kill9() }

  /// Takes the lock of the audit store, so that its owner cannot write.
  func lockAuditStore() throws {
    let path = try #require(folder).url.appending(path: "audit.sqlite").path
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.inDatabase { try $0.execute(sql: "PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE") }
    lock = queue
  }

  /// Gives the lock back.
  func unlockAuditStore() throws {
    try lock?.inDatabase { try $0.execute(sql: "ROLLBACK") }
    lock = nil
  }

  /// Puts a trigger into the audit store, as no release makes one. The store is not used while it is there.
  func addForeignTrigger() throws {
    try changeAuditStore("CREATE TRIGGER foreign_trigger BEFORE INSERT ON position BEGIN SELECT 1; END")
  }

  /// Takes the trigger out of the audit store again.
  func removeForeignTrigger() throws { try changeAuditStore("DROP TRIGGER foreign_trigger") }

  private func changeAuditStore(_ statement: String) throws {
    let path = try #require(folder).url.appending(path: "audit.sqlite").path
    try DatabaseQueue(path: path).writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA busy_timeout = 10000")
      try db.execute(sql: statement)
    }
  }

  /// - Returns: the names of the alerts that fire now.
  /// - Throws: errors of Prometheus.
  func firing() throws -> [String] { Set(try alerts().compactMap { $0.labels["alertname"] }).sorted() }

  private func alerts() throws -> [PrometheusServer.Sample] {
    try #require(prometheus).query(#"ALERTS{alertstate="firing"}"#)
  }

  /// Publishes events and looks at the alerts, until a condition holds.
  /// - Parameters:
  ///   - began: the instant of the fault.
  ///   - limit: the longest time, in seconds.
  ///   - done: gets the alerts that fire, by their names, and by their names with labels.
  /// - Returns: the alerts that began to fire meanwhile; nil if the condition did not hold in time.
  /// - Throws: errors of the publisher and of Prometheus.
  func watch(since began: Date = Date(), atMost limit: Double, until done: (Set<String>) -> Bool) throws -> [Firing]? {
    var firings: [Firing] = []
    var known: Set<String> = []
    while Date().timeIntervalSince(began) < limit {
      try publish()
      var names: Set<String> = []
      for sample in try alerts() {
        let alert = sample.labels["alertname"] ?? ""
        let labels = sample.labels.filter {
          !["__name__", "alertname", "alertstate", "job", "severity"].contains($0.key)
        }
        .map { "\($0)=\(name(of: $1))" }.sorted().joined(separator: " ")
        names.formUnion([alert, "\(alert) \(labels)"])
        guard known.insert("\(alert) \(labels)").inserted else { continue }
        firings.append(Firing(alert: alert, labels: labels, seconds: Date().timeIntervalSince(began)))
      }
      if done(names) { return firings }
      Thread.sleep(forTimeInterval: 0.1)
    }
    return nil
  }

  /// The value of an expression: the sum of its series.
  func value(_ expression: String) throws -> Double {
    try #require(prometheus).query(expression).reduce(0) { $0 + $1.value }
  }

  /// The last lines of the processes.
  var words: String { processes.map { "\($0): \($1.words.suffix(3000))" }.joined(separator: "\n") }

  private func name(of value: String) -> String { addresses.first { $0.value == value }?.key ?? value }

  private func publish() throws {
    for _ in 0..<3 {
      published += 1
      let json = ScoreSample.event(
        "e\(published)", "game/\(published % 4)", data: #"{"value":\#(published)}"#)
      let isBroken = isPoisoned && published % 2 == 0
      try producer.send(topic: "events", key: nil, value: Array((isBroken ? "{" : json).utf8))
    }
    try producer.poll()
  }
}
