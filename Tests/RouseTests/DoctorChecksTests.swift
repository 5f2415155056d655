import Auditing
import Domain
import Foundation
import Serving
import Testing

@testable import Installation
@testable import KafkaClient
@testable import Operating
@testable import Pipeline
@testable import rouse

/// The checks of `rouse doctor` on made-up facts.
@Suite("Checks of rouse doctor") struct DoctorChecksTests {
  /// Facts that are not as they should be, and what a check says about them.
  struct Case: Sendable, CustomTestStringConvertible {
    var code: FindingCode
    var severity: FindingSeverity
    /// A part of the first place.
    var words: String
    var change: @Sendable (inout DoctorFacts) -> Void

    init(
      _ code: FindingCode, _ severity: FindingSeverity, _ words: String,
      _ change: @escaping @Sendable (inout DoctorFacts) -> Void
    ) {
      (self.code, self.severity, self.words, self.change) = (code, severity, words, change)
    }

    var testDescription: String { "\(code.rawValue), \(severity): \(words)" }
  }

  private static let now: Int64 = 1_000_000_000_000_000
  private static let policy = PolicyReference(version: "v1", hash: "h1")
  /// The policy that a planner reports until its log has one.
  private static let none = PolicyReference(version: "none", hash: "0000000000000000")
  private static let other = PolicyReference(version: "v2", hash: "h2")

  /// An installation without any fault: one process, two partitions, everything read up to its end.
  private static var sound: DoctorFacts {
    var facts = DoctorFacts()
    (facts.options, facts.now) = ("--config r.yaml", now)
    facts.settings.policy = DoctorFacts.PolicyFacts(path: "policy.yaml", reference: policy)
    var cluster = ClusterFacts()
    cluster.brokers = 3
    let plan = TopicPlan.make(facts.names, partitions: 2, replicas: 3)
    for topic in plan.topics { cluster.configurations[topic.name] = topic.configuration }
    for name in facts.names.all + ["events"] {
      cluster.topics[name] = KafkaTopic(
        name: name,
        partitions: (0..<2).map { KafkaPartition(id: $0, leader: 1, replicaCount: 3, inSyncReplicaCount: 3) },
        error: nil)
    }
    for (role, topic) in [(Role.intake, "events"), (.planner, "rouse.log"), (.audit, "rouse.decisions")] {
      cluster.progress += (0..<2).map { number in
        ClusterFacts.PartitionProgress(
          role: role, partition: KafkaTopicPartition(topic: topic, partition: number), low: 10, high: 20, next: 20)
      }
    }
    cluster.clock = ClusterFacts.ClockSample(
      brokerMilliseconds: now / 1000, localMilliseconds: now / 1000 + 20, isFresh: true)
    cluster.policies = [0: .init(offset: 12, reference: policy), 1: .init(offset: 12, reference: policy)]
    facts.cluster = cluster
    let partitions = (Int32(0)..<2).map {
      ProcessStatus.OwnedPartition(number: $0, state: "planning", next: 20, policy: policy)
    }
    let status = ProcessStatus(
      version: "0.1.0", threads: [.init(name: "planner thread 0", secondsSinceTurn: 0.2)], partitions: partitions)
    facts.processes = [.init(address: "127.0.0.1:9464", isNamed: false, answer: .status(status))]
    facts.store = DoctorFacts.StoreFacts(
      path: "audit.sqlite", content: .open(.init(times: now - 86_400_000_000...now, bytes: 1 << 30)),
      bytesMax: 20 << 30, daysMax: 30)
    facts.storages = [
      .init(kind: .store, path: "audit.sqlite", room: FileSystemRoom(freeBytes: 90 << 30, totalBytes: 100 << 30)),
      .init(kind: .snapshots, path: "snapshots", room: FileSystemRoom(freeBytes: 90 << 30, totalBytes: 100 << 30)),
      .init(kind: .devices, path: "view", room: FileSystemRoom(freeBytes: 90 << 30, totalBytes: 100 << 30)),
      .init(kind: .access, path: "changes", room: FileSystemRoom(freeBytes: 90 << 30, totalBytes: 100 << 30)),
    ]
    return facts
  }

  @Test("a sound installation has no finding, and the summary says so")
  func nothing() {
    #expect(Self.sound.findings == [])
    #expect(DoctorReport(Self.sound).text.description == "nothing found\n")
  }

  @Test("each fault is found with its severity and place, and nothing else with it", arguments: cases)
  func found(_ fault: Case) throws {
    var facts = Self.sound
    fault.change(&facts)
    let findings = facts.findings
    let finding = try #require(findings.first { $0.code == fault.code }, "\(findings)")
    #expect(finding.severity == fault.severity)
    #expect(finding.places.first?.contains(fault.words) == true, "\(finding.places)")
    #expect(findings.map(\.code) == [fault.code])
  }

  @Test("each code belongs to a check, has a case here, and has words for people")
  func codes() {
    let listed = DoctorCheck.all.flatMap(\.codes)
    let tried = Set(Self.cases.map(\.code))
    for code in FindingCode.allCases {
      #expect(listed.contains(code) && tried.contains(code), "\(code)")
      let words = code.meaning
      #expect(words.title.first?.isLowercase == true && !words.title.hasSuffix("."), "\(code)")
      for text in [words.condition, words.meaning, words.advice] {
        #expect(text.first?.isUppercase == true && text.hasSuffix(".") || text.hasPrefix("`"), "\(code): \(text)")
      }
    }
    #expect(Set(listed) == Set(FindingCode.allCases))
  }

  @Test("a check finds only the codes that it lists", arguments: cases)
  func listed(_ fault: Case) {
    var facts = Self.sound
    fault.change(&facts)
    for check in DoctorCheck.all {
      for finding in check.find(facts) { #expect(check.codes.contains(finding.code), "\(check.name)") }
    }
  }

  @Test("what is wrong comes before what is a warning, and among equals the more urgent first")
  func order() {
    var facts = Self.sound
    facts.settings.unused = ["group.id"]
    facts.cluster?.problems = [TopicProblem(topic: "rouse.log", what: "topic", expected: "exists", found: "missing")]
    facts.cluster?.progress[2].waitingSince = now(-1000)
    facts.cluster?.progress[2].next = 11
    facts.cluster?.progress[0].waitingSince = now(-100)
    facts.cluster?.progress[0].next = 11
    #expect(facts.findings.map(\.code) == [.topicMissing, .plannerLag, .intakeLag, .propertyUnused])
    let report = DoctorReport(facts)
    #expect(report.count(.wrong) == 2 && report.count(.warning) == 2)
    #expect(report.isFailure(strict: false))
    facts.cluster?.problems = []
    facts.cluster?.progress[2].next = 20
    #expect(!DoctorReport(facts).isFailure(strict: false) && DoctorReport(facts).isFailure(strict: true))
    #expect(!DoctorReport(Self.sound).isFailure(strict: true))
    #expect(report.text.description.hasSuffix("\n2 wrong, 2 warnings; Runbook.md explains each code\n"))
  }

  private func now(_ seconds: Int64) -> Int64 { Self.now / 1000 + seconds * 1000 }

  @Test("checks without facts are named in the summary with the reason")
  func blind() {
    var facts = Self.sound
    (facts.cluster, facts.brokerFailure, facts.processes) = (nil, "a:1: refused", [])
    #expect(
      DoctorReport(facts).summary.description
        == "1 wrong, 0 warnings; Runbook.md explains each code. Not looked at: topics, access, lag, clock of the brokers (no broker answers); "
        + "processes, policy (no process answered)")
  }

  @Test("advice names the options of the user, and links are words on a terminal")
  func advice() {
    var facts = Self.sound
    facts.store?.content = .failure("audit store a: is damaged")
    let text = DoctorReport(facts).text.description
    #expect(text.contains("follow \"A lost audit store\"\n         (Disasters.md)."), "\(text)")
    facts = Self.sound
    facts.brokerFailure = "a:1: refused"
    #expect(
      DoctorReport(facts).text.description.contains("\n         `rouse topics check --config r.yaml` shows the error"))
  }

  @Test("hostile text of a broker or file cannot command the terminal")
  func hostile() {
    var facts = Self.sound
    facts.brokerFailure = "a\u{1B}[31m\nb"
    let text = DoctorReport(facts).text.description
    #expect(text.contains("a\\u{1b}[31m\\u{a}b") && !text.contains("\u{1B}"), "\(text)")
  }

  @Test("partition numbers, times and sizes in words")
  func words() {
    #expect(DoctorFacts.list([7, 0, 1, 2, 2, 9, 10]) == "0–2, 7, 9–10")
    #expect([42, 420, 18_000, 259_200].map { DoctorFacts.words(seconds: $0) } == ["42 s", "7 min", "5 h", "3 days"])
    #expect([512 << 20, 3 << 29].map { DoctorFacts.words(bytes: $0) } == ["512 MiB", "1.5 GiB"])
  }

  @Test("the status of a process is read as the process writes it, and nothing else is one")
  func status() throws {
    let status = ProcessStatus(
      json: """
        {"version":"1.2.3","roles":["planner"],"notReady":["r"],"threads":[{"role":"planner","number":1,
        "secondsSinceTurn":0.5,"hasJoined":true,"partitions":[{"partition":3,"state":"planning","next":17,"devices":2,
        "lagRecords":9,"restore":{"isUnderWay":false,"from":"snapshot","seconds":1.5},
        "policy":{"version":"v","hash":"h","isRefused":true}},{"partition":4,"state":"restoring"}]},
        {"role":"audit","number":0}],"audit":[]}
        """)
    let found = try #require(status)
    #expect(found.version == "1.2.3" && found.notReady == ["r"] && found.roles == ["planner"])
    #expect(
      found.threads == [
        .init(name: "planner thread 1", secondsSinceTurn: 0.5), .init(name: "audit thread 0", secondsSinceTurn: nil),
      ])
    #expect(
      found.partitions == [
        .init(
          number: 3, state: "planning", next: 17, policy: PolicyReference(version: "v", hash: "h"),
          isPolicyRefused: true, devices: 2, lagRecords: 9,
          restore: .init(isUnderWay: false, source: "snapshot", seconds: 1.5)),
        .init(number: 4, state: "restoring"),
      ])
    for text in ["", "{}", "[1]", #"{"version":1,"threads":[]}"#] { #expect(ProcessStatus(json: text) == nil) }
  }

  @Test("an address of a process is a host with a port, or a URL")
  func addresses() {
    let url = { (text: String) in StatusPage(text)?.url.absoluteString }
    #expect(url("10.0.0.2:9464") == "http://10.0.0.2:9464/status")
    #expect(url("http://[::1]:9464/") == "http://[::1]:9464/status")
    #expect(url("https://rouse.example/a/status") == "https://rouse.example/a/status")
    for text in ["", "ftp://a", "http://", "a b"] { #expect(url(text) == nil, "\(text)") }
    #expect(StatusPage(HTTPAddress(host: "0.0.0.0", port: 9464))?.url.absoluteString == "http://127.0.0.1:9464/status")
    #expect(StatusPage(HTTPAddress(host: "127.0.0.1", port: 0)) == nil)
    let resolved = { (text: String) in StatusPage(text)?.resolved.map(\.address) }
    #expect(resolved("localhost:9464")?.contains("127.0.0.1:9464") == true)
    #expect(resolved("10.0.0.2:9464") == ["10.0.0.2:9464"] && resolved("[::1]:9464") == ["[::1]:9464"])
    #expect(
      resolved("https://localhost:1/a") == ["localhost:1"]
        && resolved("no-such-host.invalid:1") == ["no-such-host.invalid:1"])
  }
}

extension DoctorChecksTests {
  private static func setting(_ topic: String, _ what: String, _ expected: String, _ found: String) -> TopicProblem {
    TopicProblem(topic: topic, what: what, expected: expected, found: found)
  }

  /// Changes the status of the only process.
  private static func process(
    _ facts: inout DoctorFacts, _ change: (inout ProcessStatus) -> Void
  ) {
    guard var status = facts.processes[0].status else { return }
    change(&status)
    facts.processes[0].answer = .status(status)
  }

  /// Makes records of a reader wait, the oldest for a number of seconds.
  private static func wait(_ facts: inout DoctorFacts, _ index: Int, _ seconds: Int64) {
    facts.cluster?.progress[index].next = 15
    facts.cluster?.progress[index].waitingSince = now / 1000 - seconds * 1000
  }

  /// Changes what the store tells.
  private static func store(_ facts: inout DoctorFacts, _ change: (inout DoctorFacts.StoreContent) -> Void) {
    guard case .open(var content)? = facts.store?.content else { return }
    change(&content)
    facts.store?.content = .open(content)
  }

  static let cases: [Case] = wayCases + lagCases + processCases + storageCases

  private static let wayCases = [
    Case(.settingsRefused, .wrong, "r.yaml:1:1") {
      $0.settings.refusal = "r.yaml:1:1: unknown"
    },
    Case(.secretUnreadable, .wrong, "/run/secret") { $0.settings.unreadable = ["/run/secret: there is no such file"] },
    Case(.tokensUnchecked, .wrong, "issuer") { $0.settings.tokenFaults = ["the keys of https://issuer: no answer"] },
    Case(.fileOpen, .warning, "rouse.yaml") { $0.settings.open = ["rouse.yaml"] },
    Case(.fileOpen, .warning, "audit.sqlite") { facts in store(&facts) { $0.isOpen = true } },
    Case(.fileOpen, .warning, "snapshots") { $0.storages[1].isOpen = true },
    Case(.propertyUnused, .warning, "group.id") { $0.settings.unused = ["group.id"] },
    Case(.brokerAway, .wrong, "a:1") { ($0.cluster, $0.brokerFailure) = (nil, "a:1: refused") },
    Case(.topicMissing, .wrong, "rouse.log") {
      $0.cluster?.problems = [setting("rouse.log", "topic", "exists", "missing")]
    },
    Case(.topicPartitions, .wrong, "rouse.log: expected 2, found 3") {
      $0.cluster?.problems = [setting("rouse.log", "partitions", "2", "3")]
    },
    Case(.topicSetting, .wrong, "rouse.log: retention.ms is 1000, expected 604800000") {
      $0.cluster?.problems = [setting("rouse.log", "retention.ms", "604800000", "1000")]
    },
    Case(.topicSetting, .wrong, "cleanup.policy") {
      $0.cluster?.problems = [setting("rouse.state", "cleanup.policy", "compact", "delete")]
    },
    Case(.topicSetting, .wrong, "retention.ms is 1000, expected -1") {
      $0.cluster?.problems = [setting("rouse.log", "retention.ms", "-1", "1000")]
    },
    Case(.topicSetting, .warning, "retention.ms is -1") {
      $0.cluster?.problems = [setting("rouse.log", "retention.ms", "604800000", "-1")]
    },
    Case(.topicSetting, .warning, "segment.bytes") {
      $0.cluster?.problems = [setting("rouse.state", "segment.bytes", "67108864", "1073741824")]
    },
    Case(.topicCompaction, .warning, "rouse.state, compaction of partition 1") {
      $0.cluster?.problems = [setting("rouse.state", "compaction of partition 1", "at most 1 MB", "about 9 MB")]
    },
    Case(.topicLeaderless, .wrong, "rouse.state: partitions 0–1") {
      for index in 0..<2 { $0.cluster?.topics["rouse.state"]?.partitions[index].leader = nil }
    },
    Case(.topicReplicas, .warning, "rouse.log: copies of partitions 1") {
      $0.cluster?.topics["rouse.log"]?.partitions[1].inSyncReplicaCount = 2
    },
    Case(.topicReplicas, .warning, "rouse.log: one copy of partitions 0") {
      $0.cluster?.topics["rouse.log"]?.partitions[0] = KafkaPartition(
        id: 0, leader: 1, replicaCount: 1, inSyncReplicaCount: 1)
    },
    Case(.accessRefused, .wrong, "Read on Topic rouse.log") {
      $0.cluster?.refusals = [.init(AccessRule.Resource(.topic, "rouse.log"), .read)]
    },
    Case(.notChecked, .warning, "the settings of rouse.log: timed out") {
      $0.cluster?.unseen = [.init("the settings of rouse.log", reason: "timed out")]
    },
  ]

  private static func moveClock(of facts: inout DoctorFacts, by span: TimeSpan) {
    guard case .status(var status) = facts.processes[0].answer else { return }
    let now = Timestamp(microseconds: facts.now)
    status.time = now + span
    status.compareClocks(asked: now, answered: now)
    facts.processes[0].answer = .status(status)
  }

  @Test("a clock is only apart by more than the time that its answer took")
  func roundTrip() {
    var status = ProcessStatus(version: "1")
    let at = Timestamp(microseconds: 1_000_000_000)
    for (time, ahead) in [(-7, -7.0), (0, 0), (3, 0), (5, 0), (12, 7)] as [(Int64, Double)] {
      status.time = at + .seconds(time)
      status.compareClocks(asked: at, answered: at + .seconds(5))
      #expect(status.secondsAhead == ahead)
    }
    let json = #"{"version":"1","threads":[],"time":"2026-03-01T12:00:00Z"}"#
    #expect(ProcessStatus(json: json)?.time == Timestamp(rfc3339: "2026-03-01T12:00:00Z"))
  }

  private static let lagCases = [
    Case(.recordsLost, .wrong, "rouse.log[1]: 4 offsets, from 6 to 9") {
      $0.cluster?.progress[3].next = 6
    },
    Case(.positionBeyond, .wrong, "rouse.log[0]: the position is 21, the end 20") { $0.cluster?.progress[2].next = 21 },
    Case(.recordsExpire, .wrong, "rouse.decisions[0]: the oldest record that waits is removed in 8 min") { facts in
      facts.cluster?.configurations["rouse.decisions"]?["retention.ms"] = "990000"
      wait(&facts, 4, 500)
    },
    Case(.plannerLag, .warning, "rouse.log[0]: 5 records wait, the oldest for 2 min") { wait(&$0, 2, 130) },
    Case(.plannerLag, .wrong, "the oldest for 15 min") { wait(&$0, 2, 901) },
    Case(.intakeLag, .warning, "events[1]: 5 records wait") { wait(&$0, 1, 61) },
    Case(.intakeLag, .wrong, "none was read yet") {
      wait(&$0, 1, 901)
      $0.cluster?.progress[1].next = nil
    },
    Case(.auditLag, .warning, "rouse.decisions[0]") { wait(&$0, 4, 601) },
    Case(.auditLag, .wrong, "the oldest for 6 h") { wait(&$0, 4, 22_000) },
    Case(.clockApart, .warning, "at least 9 s behind") { $0.cluster?.clock?.localMilliseconds -= 9500 },
    Case(.clockApart, .warning, "127.0.0.1:9464 is at least 9 s ahead of this machine") {
      moveClock(of: &$0, by: .seconds(9))
    },
    Case(.clockApart, .warning, "127.0.0.1:9464 is at least 9 s behind this machine") {
      moveClock(of: &$0, by: .seconds(-9))
    },
    Case(.clockApart, .warning, "about 9 s ahead") { $0.cluster?.clock?.localMilliseconds += 9500 },
  ]

  private static let processCases = [
    Case(.partitionStopped, .wrong, "rouse.log[1] at offset 20") { facts in
      process(&facts) { $0.partitions[1].state = "stopped" }
    },
    Case(.processStuck, .wrong, "planner thread 0 has made no turn for 90 s") { facts in
      process(&facts) { $0.threads[0].secondsSinceTurn = 90 }
    },
    Case(.processUnready, .wrong, "127.0.0.1:9464: the state is being read") { facts in
      process(&facts) { $0.notReady = ["the state is being read"] }
    },
    Case(.auditGaveUp, .wrong, "127.0.0.1:9464: audit store a: is damaged") { facts in
      process(&facts) {
        $0.threads.append(.init(name: "audit thread 0", secondsSinceTurn: nil, gaveUp: "audit store a: is damaged"))
      }
    },
    Case(.processAway, .wrong, "10.0.0.2:9464: refused") {
      $0.processes.append(.init(address: "10.0.0.2:9464", isNamed: true, answer: .failure("refused")))
    },
    Case(.processAway, .warning, "127.0.0.1:9464: refused") { $0.processes[0].answer = .failure("refused") },
    Case(.partitionUnplanned, .warning, "rouse.log: partitions 1") { facts in
      process(&facts) { $0.partitions.removeLast() }
    },
    Case(.versionsDiffer, .warning, "127.0.0.1:9464: 0.2.0, and this program 0.1.0") { facts in
      process(&facts) { $0.version = "0.2.0" }
    },
    Case(.policyMissing, .wrong, "rouse.log: partitions 0") { facts in
      process(&facts) { $0.partitions[0].policy = none }
    },
    Case(.policyMissing, .wrong, "rouse.log: partitions 0–1") { facts in
      process(&facts) { for number in 0..<2 { $0.partitions[number].policy = none } }
    },
    // A partition whose state cannot be read has neither a position nor a policy.
    Case(.partitionStopped, .wrong, "rouse.log[1]") { facts in
      process(&facts) { $0.partitions[1] = .init(number: 1, state: "stopped") }
    },
    Case(.policyRefused, .wrong, "rouse.log: partitions 1 of running processes") { facts in
      process(&facts) { $0.partitions[1].isPolicyRefused = true }
    },
    Case(.policyRefused, .wrong, "rouse.log[1]@12") { $0.cluster?.policies[1]?.reference = nil },
    Case(.policyDiffers, .wrong, "newest in the log of partitions 0: v1, hash h1") {
      $0.cluster?.policies[1]?.reference = other
    },
    Case(.policyDiffers, .wrong, "in force in partitions 0: v1, hash h1") { facts in
      facts.settings.policy = nil
      process(&facts) { $0.partitions[1].policy = other }
    },
    Case(.policyPending, .warning, "rouse.log[0]: the policy is at offset 20, the planner at 20") { facts in
      for number in Int32(0)..<2 { facts.cluster?.policies[number] = .init(offset: 20, reference: other) }
    },
    Case(.policyFile, .warning, "policy.yaml: v2, hash h2; in force is v1, hash h1") {
      $0.settings.policy?.reference = other
    },
    Case(.policyFile, .warning, "policy.yaml: no such file") {
      $0.settings.policy = DoctorFacts.PolicyFacts(path: "policy.yaml", failure: "no such file")
    },
  ]

  private static let storageCases = [
    Case(.storeUnusable, .wrong, "is damaged") { $0.store?.content = .failure("audit store a: is damaged") },
    Case(.storeMissing, .wrong, "audit.sqlite") { $0.store?.content = .missing },
    Case(.storeMissing, .warning, "audit.sqlite") {
      $0.store?.content = .missing
      for index in 4..<6 {
        $0.cluster?.progress[index] = .init(
          role: .audit, partition: KafkaTopicPartition(topic: "rouse.decisions", partition: 0), low: 0, high: 0,
          next: nil)
      }
    },
    Case(.storeHoles, .warning, "audit.sqlite: 3 records missing") { facts in
      store(&facts) { content in
        content.recordsMissing = 3
        content.holes = [AuditHole(topic: .decisions, partition: 1, offsets: 4..<7, cause: .removed)]
      }
    },
    Case(.diskFull, .warning, "9.0 % of 100.0 GiB free (9.0 GiB)") {
      $0.storages[1].room = FileSystemRoom(freeBytes: 9 << 30, totalBytes: 100 << 30)
    },
    Case(.diskFull, .wrong, "1.0 % of 100.0 GiB free") {
      $0.storages[1].room = FileSystemRoom(freeBytes: 1 << 30, totalBytes: 100 << 30)
    },
    Case(.diskFull, .warning, "full in 5 days at the usual growth of the store") {
      $0.storages[0].room = FileSystemRoom(freeBytes: 5 << 30, totalBytes: 20 << 30)
    },
    Case(.diskFull, .wrong, "full in 12 h at the usual growth of the store") {
      $0.storages[0].room = FileSystemRoom(freeBytes: 1 << 29, totalBytes: 4 << 30)
    },
    Case(.diskFull, .warning, "no room for a new snapshot of 91.0 GiB") { $0.storages[1].largestFile = 91 << 30 },
    Case(.folderClosed, .wrong, "audit.sqlite (audit store)") { $0.storages[0].isWritable = false },
    Case(.folderClosed, .warning, "snapshots (snapshots)") { $0.storages[1].isWritable = false },
    Case(.folderClosed, .wrong, "view (view of devices)") { $0.storages[2].isWritable = false },
    Case(.folderClosed, .wrong, "changes (access records)") { $0.storages[3].isWritable = false },
    Case(.fileOpen, .warning, "changes") { $0.storages[3].isOpen = true },
    Case(.diskFull, .warning, "changes (access records): 9.0 %") {
      $0.storages[3].room = FileSystemRoom(freeBytes: 9 << 30, totalBytes: 100 << 30)
    },
  ]
}
