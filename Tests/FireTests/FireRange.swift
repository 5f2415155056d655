import Domain
import Foundation
import Glibc
import KafkaClient
import Policies
import Verification

@testable import Installation
@testable import Operating
@testable import Pipeline

/// A broker with topics, a fleet, a stream of events, and the processes that work on them. Knows the decisions that must
/// follow from the published events, and waits for them.
final class FireRange {
  struct Options {
    var seed: UInt64
    var devices = 40
    var subjects = 12
    var partitions = 4
    var eventsPerSecond = 60
    var commitIntervalMilliseconds = 50
    var transactionTimeoutMilliseconds = 5000
    var sessionTimeoutMilliseconds = 6000
    /// Whether planners keep local snapshots, in one folder, every second.
    var keepsSnapshots = false
    var membership = "dynamic"
    /// Whether events come in any order and place: early, later than more than 16 newer ones of their subject, and repeated in another
    /// partition.
    var isDisordered = false
    /// Properties of every producer. The embedded broker checks no sequence numbers: with more than one request under way it
    /// accepts the request behind a refused one, and the client believes that both were written.
    var producer: [(String, String)] = []
  }

  static let policy = """
    version: fire.1
    limits:
      devicePushes: { limit: 3600, window: 1h, burst: 3 }
    kinds:
      Score:
        surface: widget
        budget: { perDay: 25, minInterval: 0s }
        halfLife: 1m
        # No displays: a difference of fields would wait for as long as it lasts, and not be over with the run.
        rules:
          - { event: score.changed, relevance: { base: 0.9 }, maxAge: 4s }
      Table:
        surface: widget
        budget: { perDay: 40, minInterval: 1s, window: rolling }
        halfLife: 1m
        rules:
          - { event: score.changed, relevance: { base: 0.4 }, maxAge: 3s }

    """

  let options: Options
  let bootstrap: String
  let broker: EmbeddedBroker?
  let settings: PipelineSettings
  let folder: URL
  var random: SeededRandom
  private let producer: KafkaProducer
  private var processes: [String: FireProcess] = [:]
  private(set) var published = 0
  /// The number of processes that were killed.
  private(set) var kills = 0
  private var nextEvent = Date()
  /// The events that are published again, or only then, once a number of events have been published.
  private var held: [(after: Int, event: [UInt8])] = []
  /// The interested instances by subject, as `device/instance`.
  private var interested: [Int: [String]] = [:]
  /// The pairs `event device/instance` that must be decided.
  private var expected: Set<String> = []
  private(set) var log: [String] = []
  private let began = Date()

  /// Makes the topics and the policy file.
  ///
  /// - Parameters:
  ///   - options: The size of the run and its settings.
  ///   - bootstrap: The address of a real broker; nil for an embedded one in this process.
  /// - Throws: Errors of the broker and of the file system.
  init(_ options: Options, bootstrap: String? = nil) throws {
    self.options = options
    random = SeededRandom(seed: options.seed)
    let prefix = "fire-\(options.seed)-\(UInt32.random(in: 0 ... .max))."
    if let bootstrap {
      self.bootstrap = bootstrap
      broker = nil
    } else {
      let embedded = try EmbeddedBroker()
      self.bootstrap = embedded.bootstrapServers
      broker = embedded
    }
    settings = PipelineSettings(
      kafka: KafkaConfiguration([("bootstrap.servers", self.bootstrap)]), topics: TopicNames(prefix: prefix),
      eventTopics: [prefix + "events"], group: prefix + "group", instance: "range")
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(prefix + "files")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(Self.policy.utf8).write(to: folder.appendingPathComponent("policy.yaml"))
    if let broker {
      for name in settings.topics.all { try broker.createTopic(name, partitions: options.partitions) }
      try broker.createTopic(prefix + "events", partitions: 2)
    } else {
      var plan = TopicPlan.make(settings.topics, partitions: options.partitions, replicas: 1)
      plan.topics.append(KafkaNewTopic(name: prefix + "events", partitions: 2, replicas: 1))
      for outcome in try plan.create(KafkaAdmin(settings.kafka)) { if let error = outcome.error { throw error } }
    }
    producer = try KafkaProducer(
      settings.kafka.merging(["enable.idempotence": "true", "linger.ms": "2", "message.timeout.ms": "600000"])
        .merging(KafkaConfiguration(options.producer)))
    for subject in 0..<options.subjects { interested[subject] = [] }
  }

  deinit {
    for process in processes.values { process.kill9() }
    try? FileManager.default.removeItem(at: folder)
    guard broker == nil, let admin = try? KafkaAdmin(settings.kafka) else { return }
    _ = try? admin.deleteTopics(settings.topics.all + settings.eventTopics, timeout: .seconds(30))
  }

  /// Adds a line to the story, which a failure shows.
  func note(_ text: String) {
    log.append(String(format: "%6.2f s  ", Date().timeIntervalSince(began)) + text)
  }

  // MARK: Processes

  /// Starts a process. It may have the name of one that ended.
  ///
  /// - Parameter instance: The setting `instance`; nil for the name.
  func start(_ name: String, roles: String, workers: Int = 1, instance: String? = nil) throws {
    note("start \(name)")
    let properties =
      [
        ("session.timeout.ms", "\(options.sessionTimeoutMilliseconds)"), ("heartbeat.interval.ms", "1000"),
        ("fetch.wait.max.ms", "20"),
      ] + options.producer
    processes[name] = try FireProcess(
      name, folder: folder,
      settings: [
        "kafka.bootstrapServers=\(bootstrap)",
        "kafka.properties=\(properties.map { "\($0)=\($1)" }.joined(separator: ","))",
        "topics.prefix=\(settings.topics.prefix)", "topics.events=\(settings.eventTopics[0])",
        "group=\(settings.group)", "instance=\(instance ?? name)", "roles=\(roles)", "planner.workers=\(workers)",
        "planner.commitIntervalMilliseconds=\(options.commitIntervalMilliseconds)",
        "planner.transactionTimeoutMilliseconds=\(options.transactionTimeoutMilliseconds)", "policy=policy.yaml",
        "audit.store=\(name).sqlite", "membership=\(options.membership)",
      ] + (options.keepsSnapshots ? ["planner.snapshotFolder=snapshots", "planner.snapshotIntervalSeconds=1"] : []))
  }

  func kill9(_ name: String) {
    note("SIGKILL \(name)")
    kills += 1
    processes[name]?.kill9()
    processes[name] = nil
  }

  func send(_ number: Int32, _ word: String, to name: String) {
    note("\(word) \(name)")
    processes[name]?.signal(number)
  }

  /// Sends SIGTERM and waits for the end.
  ///
  /// - Returns: A sentence that says what went wrong; nil if it ended in order.
  func end(_ name: String) -> String? {
    note("SIGTERM \(name)")
    return processes.removeValue(forKey: name)?.end(within: 10)
  }

  /// Ends every process, one after the other.
  ///
  /// - Returns: A sentence for each that did not end in order.
  func endAll() -> [String] { processes.keys.sorted().compactMap { end($0) } }

  /// Publishes until a process has ended by itself, and forgets it.
  ///
  /// - Returns: Its status and what it wrote; nil if it still runs after half a minute.
  func publishUntilEnd(of name: String) throws -> (status: Int32, words: String)? {
    let end = Date().addingTimeInterval(30)
    while Date() < end {
      try publish(seconds: 0.1)
      guard let process = processes[name], !process.isRunning else { continue }
      note("\(name) has ended with \(process.status)")
      processes[name] = nil
      return (process.status, process.words)
    }
    return nil
  }

  var running: [String] { processes.keys.sorted() }

  /// The processes that ended by themselves, with the ends of their logs.
  var fallen: [String] {
    processes.values.filter { !$0.isRunning }.map { "\($0.name), status \($0.status):\n\($0.words.suffix(3000))" }
  }

  /// The log lines at warning and above of every process so far.
  var complaints: [String] {
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    return files.filter { $0.pathExtension == "log" }.flatMap { file in
      let name = file.lastPathComponent.prefix { $0 != "." }
      return ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n")
        .filter { [" warning ", " error ", " critical ", "ssert"].contains(where: $0.contains) }.map {
          "\(name): \($0)"
        }
    }
  }

  // MARK: Planners

  /// The log partitions that each running planner has restored and not released, according to its log.
  var owned: [String: Set<Int>] {
    var owned: [String: Set<Int>] = [:]
    for (name, process) in processes where name != "intake" {
      var partitions: Set<Int> = []
      for line in process.words.split(separator: "\n") {
        if let restored = line.firstMatch(of: /\bpartition=(\d+).* partition restored/) {
          if let number = Int(restored.1) { partitions.insert(number) }
        } else if let gone = line.firstMatch(of: /\bchange=(?:revoked|lost) partitions=\[([^\]]*)\]/) {
          partitions.subtract(gone.1.split(separator: ", ").compactMap { Int($0) })
        }
      }
      owned[name] = partitions
    }
    return owned
  }

  /// Publishes until a number of planners own at least one partition each, and all partitions are owned.
  ///
  /// - Returns: Whether that was so in time.
  func spread(over planners: Int, timeout: Double = 60) throws -> Bool {
    let end = Date().addingTimeInterval(timeout)
    while Date() < end, fallen.isEmpty {
      let owned = owned
      if owned.values.filter({ !$0.isEmpty }).count == planners,
        owned.values.map(\.count).reduce(0, +) == options.partitions
      {
        note("owned: \(owned.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.sorted())" })")
        return true
      }
      try publish(seconds: 0.2)
    }
    note("owned in the end: \(owned)")
    return false
  }

  /// Publishes until a planner with a single partition is in the middle of a transaction, and kills it there.
  ///
  /// The embedded broker shows at once what a transaction writes. The next owner decides the same again with the same ids only
  /// if it finds the state of the last commit. So the planner is frozen and examined, and it is killed only if it has written
  /// no state without a position, and if the log has records behind its position. A broker with isolation needs no such care.
  ///
  /// - Returns: Whether it was killed.
  func killInTransaction(_ name: String) throws -> Bool {
    guard broker != nil else {
      try publish(seconds: random.seconds(0.1, 1))
      kill9(name)
      return true
    }
    for _ in 0..<50 {
      try publish(seconds: random.seconds(0.05, 0.3))
      processes[name]?.signal(SIGSTOP)
      if let partition = owned[name]?.first, owned[name]?.count == 1, try isInTransaction(Int32(partition)) {
        kill9(name)
        return true
      }
      processes[name]?.signal(SIGCONT)
    }
    return false
  }

  private func isInTransaction(_ partition: Int32) throws -> Bool {
    let reader = TopicReader(settings: settings.cluster)
    var last: KafkaMessage?
    try reader.read(from: [KafkaTopicPartition(topic: settings.topics.state, partition: partition): 0]) { last = $0 }
    guard let last, last.key == PlannerPosition.key else { return false }
    let position = try PlannerPosition(bytes: last.value ?? [])
    // Decisions wait in an open block until the commit, so the topics do not show what was planned since the last one.
    var isAhead = false
    let log = KafkaTopicPartition(topic: settings.topics.log, partition: partition)
    try reader.read(from: [log: position.nextOffset]) { _ in isAhead = true }
    return isAhead
  }

  // MARK: Publishing

  /// Returns the zone in which it is between 12 and 13 o'clock, so that the hour of a run decides nothing: at night hardly
  /// anybody looks, and a policy with prices may rightly push nothing.
  private static func middayZone(at time: Date) -> String {
    let hour = Int(time.timeIntervalSince1970 / 3600) % 24
    // The signs of these zones are those of POSIX: Etc/GMT+3 is three hours behind UTC.
    return hour == 12 ? "Etc/GMT" : hour < 12 ? "Etc/GMT-\(12 - hour)" : "Etc/GMT+\(hour - 12)"
  }

  /// Registers the fleet and waits until it is in the log: topics have no order among each other.
  func register(timeout: Double = 60) throws -> Bool {
    for number in 0..<options.devices {
      let device: Identifier = "device-\(number)"
      var widgets: [Registration.Widget] = []
      for place in 0..<Int(random.next(1...3)) {
        let subject = Int(random.next(0...UInt64(options.subjects - 1)))
        let kind: Identifier = place == 0 ? "Score" : "Table"
        widgets.append(Registration.Widget(id: "w\(place)", kind: kind, interests: ["game/\(subject)"]))
        interested[subject, default: []].append("\(device)/w\(place)")
      }
      let registration = Registration(
        device: device, app: "com.example.scores", environment: .production, platform: "iOS",
        osVersion: OSVersion(major: 26), timeZone: Self.middayZone(at: began),
        tokens: Registration.Tokens(widgets: "aa\(number)", background: nil), widgets: widgets,
        updatedAt: Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)))
      try producer.send(topic: settings.topics.devices, key: Array(device.utf8), value: registration.json())
    }
    guard try producer.flush(timeout: .seconds(60)) else { return false }
    return try wait(timeout) {
      var keyed: Set<[UInt8]> = []
      _ = try TopicReader(settings: settings.cluster).read(settings.topics.log) {
        if let key = $0.key { keyed.insert(key) }
      }
      return keyed.count >= options.devices
    }
  }

  /// Publishes events at the chosen rate for some time; one in twenty comes twice. With `isDisordered`, see `publishInDisorder`.
  func publish(seconds: Double) throws {
    let end = Date().addingTimeInterval(seconds)
    nextEvent = max(nextEvent, Date())
    while Date() < end {
      let pause = nextEvent.timeIntervalSinceNow
      if pause > 0 { Thread.sleep(forTimeInterval: min(pause, max(0, end.timeIntervalSinceNow))) }
      guard Date() >= nextEvent else { continue }
      nextEvent = nextEvent.addingTimeInterval(1 / Double(options.eventsPerSecond))
      let subject = Int(random.next(0...UInt64(options.subjects - 1)))
      let id = "e\(published)"
      // An early event stays the newest of its subject while more than 16 others come.
      let isEarly = options.isDisordered && random.next(1...30) == 1
      let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + (isEarly ? 10_000 : 0))
      let json =
        #"{"specversion":"1.0","id":"\#(id)","source":"/fire","type":"score.changed","subject":"game/\#(subject)","#
        + #""time":"\#(now)","data":{"value":\#(random.next(0...9))}}"#
      if options.isDisordered {
        try publishInDisorder(Array(json.utf8), isEarly: isEarly)
      } else {
        for _ in 0..<(random.next(1...20) == 1 ? 2 : 1) {
          try producer.send(topic: settings.eventTopics[0], key: Array("game/\(subject)".utf8), value: Array(json.utf8))
        }
      }
      try producer.poll()
      for instance in interested[subject] ?? [] { expected.insert("\(id) \(instance)") }
      published += 1
    }
  }

  /// Publishes an event in any partition, at once or later, and perhaps again. An early one comes again when more than 16 others of its
  /// subject have come; so does one in ten of the others, and one in ten comes only then.
  private func publishInDisorder(_ event: [UInt8], isEarly: Bool) throws {
    let choice = random.next(1...10)
    if isEarly || choice != 1 { try publish(event) }
    if isEarly || choice <= 2 {
      held.append((published + options.subjects * Int(random.next(20...40)), event))
    } else if choice == 3 {
      try publish(event)
    }
    try publishHeld(before: published)
  }

  private func publish(_ event: [UInt8]) throws {
    try producer.send(
      topic: settings.eventTopics[0], partition: Int32(random.next(0...1)), key: nil, value: event)
  }

  private func publishHeld(before count: Int) throws {
    for event in held where event.after < count { try publish(event.event) }
    held.removeAll { $0.after < count }
  }

  // MARK: Reading

  /// Returns the places at which the decisions that come from now on begin.
  func decisionEnds() throws -> [KafkaTopicPartition: Int64] {
    let topic = settings.topics.decisions
    let reader = try KafkaConsumer(settings.kafka.merging(["group.id": settings.cluster.readerGroup]))
    let partitions = try KafkaAdmin(settings.kafka).describeTopics([topic], timeout: .seconds(30)).flatMap(\.partitions)
    let ends = try reader.ends(
      partitions.map { KafkaTopicPartition(topic: topic, partition: $0.id) }, timeout: .seconds(30))
    return Dictionary(uniqueKeysWithValues: ends.map { ($0.partition, $0.offset) })
  }

  /// Returns whether an event is decided that has at least a number in the order of publishing.
  ///
  /// - Parameters:
  ///   - number: The number.
  ///   - starts: The places at which to begin to read.
  func decides(eventFrom number: Int, after starts: [KafkaTopicPartition: Int64]) -> Bool {
    var isDecided = false
    do throws(KafkaError) {
      try TopicReader(settings: settings.cluster, patience: .seconds(5)).read(from: starts) { message in
        for line in DecisionBlock(message).documents {
          guard let decision = try? Decision(json: line) else { continue }
          isDecided = isDecided || Int("\(decision.event)".dropFirst()).map { $0 >= number } ?? false
        }
      }
    } catch { note("the decisions cannot be read: \(error)") }
    return isDecided
  }

  /// Waits until every event has its final decision for every interested instance.
  func drained(timeout: Double) throws -> Bool {
    try publishHeld(before: .max)
    guard try producer.flush(timeout: .seconds(60)) else { return false }
    note("published \(published) events, \(expected.count) decisions to come")
    let done = try wait(timeout) { try missing().isEmpty }
    if done { note("all decided") }
    return done
  }

  /// Returns the pairs `event device/instance` that are not decided yet.
  func missing() throws -> Set<String> {
    var missing = expected
    _ = try TopicReader(settings: settings.cluster).read(settings.topics.decisions) { message in
      for line in DecisionBlock(message).documents {
        guard let decision = try? Decision(json: line), decision.final else { continue }
        missing.remove("\(decision.event) \(decision.device)/\(decision.instance)")
      }
    }
    return missing
  }

  /// Recomputes the books from everything that was written.
  func verify() throws -> LedgerReport {
    // The program's hash of a policy covers the profile.
    let policy = try PolicyDocument(
      bytes: Array(Self.policy.utf8), file: "policy.yaml", profile: PolicyProfiles.all[0]
    ).policy
    var check = LedgerCheck(limits: [policy.reference.hash: LedgerLimits(policy)])
    let reader = TopicReader(settings: settings.cluster)
    _ = try reader.read(settings.topics.decisions) { message in
      check.add(DecisionBlock(message), place: "\(message.topicPartition)@\(message.offset)")
    }
    _ = try reader.read(settings.topics.commands) { message in
      check.add(command: message.value ?? [], place: "\(message.topicPartition)@\(message.offset)")
    }
    return try check.finish()
  }

  private func wait(_ seconds: Double, until done: () throws -> Bool) throws -> Bool {
    let end = Date().addingTimeInterval(seconds)
    while try !done() {
      if Date() > end || !fallen.isEmpty { return false }
      Thread.sleep(forTimeInterval: 0.2)
      try producer.poll()
    }
    return true
  }
}

extension SeededRandom {
  /// Returns a whole number in a range.
  mutating func next(_ range: ClosedRange<UInt64>) -> UInt64 {
    range.lowerBound + next() % (range.upperBound - range.lowerBound + 1)
  }

  /// Returns a number of seconds between two bounds.
  mutating func seconds(_ low: Double, _ high: Double) -> Double { low + (high - low) * unit() }
}
