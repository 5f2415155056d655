import Foundation
import HTTPTesting
import Installation
import KafkaClient
import Operating
import Serving
import Testing

/// Runs every role on a real broker with an authorizer, each as a user with exactly the permissions that
/// `rouse topics acls` prints for it.
///
/// `ROUSE_TEST_SECURED_BOOTSTRAP` is the address of a listener with SASL/PLAIN and without TLS. Its users are `admin`, who may do
/// everything, and one with the name of each role. The password of a user is the name and `-secret`. `ROUSE_TEST_KAFKA_BIN`
/// is the folder of Kafka's tools.
@Suite("A broker with an authorizer", .serialized, .enabled(if: SecuredBroker.bootstrap != nil))
struct SecuredBrokerTests {
  @Test("each role works with exactly the permissions that are printed for it")
  func roles() throws {
    let broker = try SecuredBroker()
    try broker.permit()
    try broker.makeTopics()
    let processes = try [Role.intake, .planner, .audit].map { try broker.start($0) }
    defer { for process in processes { process.terminate() } }
    try broker.publish("rouse.devices", "d1", phone("d1"), as: .backend)
    try broker.publish("rouse.devices", "d2", "no registration", as: .backend)
    try broker.soon("a device", .planner) { $0.contains("registrationsPlanned=1") }
    try broker.publish("events", "f", delay("e1", 60, at: "15:00:00"), as: .publisher)
    try broker.soon("a decision in the audit", .audit) { $0.contains("auditedDecisions=1") }
    try broker.publish("rouse.signals", "d1", signal("app.foregrounded", "d1", at: "15:10:00"), as: .sender)

    try broker.expectDone(.check, "topics", "check")
    try broker.place.put(tinyPolicy.replacing("tiny.1", with: "tiny.2"), "next.yaml")
    try broker.expectDone(.policy, "policy", "apply", "next.yaml")
    try broker.expectDone(.verify, "verify")
    try broker.expectDone(
      .export, "log", "export", "--devices", "d.jsonl", "--events", "e.jsonl", "--signals", "s.jsonl")
    try broker.expectDone(.deadLetters, "dead-letters", "list")
    let letter = broker.prefix + "dead-letters[0]@0"
    try broker.expectDone(.deadLetters, "dead-letters", "show", letter)
    try broker.expectDone(.replay, "dead-letters", "replay", letter)
    try broker.expectDone(.skip, "skip", broker.prefix + "log[0]@0", "--dry-run")
    try broker.soon("the policy", .planner) { $0.contains("version=tiny.2") }

    for process in processes {
      #expect(process.isRunning)
      process.terminate()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    for role in Role.defaults {
      let log = try broker.log(of: role)
      #expect(!log.lowercased().contains("authoriz"), "\(log)")
    }
  }

  @Test(
    "so do the gateway and the console with views of devices of their own, and the console applies a policy, replays a dead letter, and sees the cluster"
  )
  func servers() throws {
    let broker = try SecuredBroker()
    try broker.permit([.intake, .planner, .audit, .gateway, .console, .create, .backend])
    try broker.makeTopics()
    let processes = try [Role.intake, .planner, .audit, .gateway, .console].map { try broker.start($0) }
    defer { for process in processes { process.terminate() } }
    let gateway = try broker.address(of: .gateway)
    let json = ("Content-Type", "application/json")
    let device = try TestClient(gateway).ask("PUT", "/v1/devices/d1", [json], phone("d1"))
    #expect(device.status == 202, "\(device.text)")
    try broker.soon("a device", .planner) { $0.contains("registrationsPlanned=1") }
    try broker.soon("the view of devices", .gateway) { _ in
      try TestClient(gateway).ask("GET", "/v1/devices/d1").status == 200
    }
    let signal =
      #"{"specversion":"1.0","id":"s1","source":"/app","type":"rouse.signal.app.foregrounded","time":"2013-07-01T15:00:00Z","data":{"device":"d1"}}"#
    let look = try TestClient(gateway).ask(
      "POST", "/v1/devices/d1/signals", [("Content-Type", "application/cloudevents+json")], signal)
    #expect(look.status == 202, "\(look.text)")
    let event = try TestClient(gateway).ask(
      "POST", "/v1/events", [("Content-Type", "application/cloudevents+json")], delay("e1", 60, at: "15:00:00"))
    #expect(event.status == 202, "\(event.text)")
    try broker.soon("a decision in the audit", .audit) { $0.contains("auditedDecisions=1") }
    try broker.publish("rouse.devices", "d2", "no registration", as: .backend)

    let console = try broker.address(of: .console)
    try broker.soon("the registration and a look", .console) { _ in
      let page = try TestClient(console).ask("GET", "/devices/d1", [("Accept", "text/html")])
      return page.status == 200 && page.text.contains("By the copy of the registrations, as it was ")
        && page.text.contains("the app was opened")
    }
    let next = tinyPolicy.replacing("tiny.1", with: "tiny.2")
    let applied = try TestClient(console).ask(
      "POST", "/v1/policies/apply", [("Content-Type", "application/yaml")], next)
    #expect(applied.status == 200, "\(applied.text)")
    try broker.soon("the policy", .planner) { $0.contains("version=tiny.2") }
    let history = try TestClient(console).ask("GET", "/v1/policies")
    #expect(history.status == 200 && history.text.contains("tiny.2"), "\(history.text)")
    try broker.soon("the letter", .console) { _ in
      try TestClient(console).ask("GET", "/v1/dead-letters").text.contains("dead-letters[0]@0")
    }
    #expect(try TestClient(console).ask("GET", "/v1/dead-letters/0/0").status == 200)
    let replayed = try TestClient(console).ask("POST", "/v1/dead-letters/0/0/replay")
    #expect(replayed.status == 200, "\(replayed.text)")
    var page = ""
    try broker.soon("the page about health", .console) { _ in
      page = try TestClient(console).ask("GET", "/health", [("Accept", "text/html")]).text
      return page.contains("As the brokers told")
    }
    #expect(!page.contains("Not known"), "\(page)")

    for process in processes {
      #expect(process.isRunning)
      process.terminate()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    for role in [Role.gateway, .console] {
      let log = try broker.log(of: role)
      #expect(!log.lowercased().contains("authoriz"), "\(log)")
    }
  }
}

/// The broker, and an installation with names of its own on it.
private struct SecuredBroker {
  static let bootstrap = ProcessInfo.processInfo.environment["ROUSE_TEST_SECURED_BOOTSTRAP"]

  let place: Workplace
  /// The prefix of topics, with its separator.
  let prefix: String
  private let bootstrap: String

  init() throws {
    bootstrap = try #require(Self.bootstrap)
    place = try Workplace()
    prefix = "acl-\(UUID().uuidString.prefix(8))."
    try place.put(tinyPolicy, "policy.yaml")
    for role in AccessRole.allCases { try place.put("\(role.rawValue)-secret\n", "\(role.rawValue).secret") }
  }

  private func settings(as user: String) -> [String] {
    [
      "kafka.bootstrapServers=\(bootstrap)", "topics.prefix=\(prefix)", "topics.events=\(prefix)events",
      "topics.partitions=1", "group=\(prefix.dropLast())",
      "kafka.properties=security.protocol=SASL_PLAINTEXT,sasl.mechanism=PLAIN,sasl.username=\(user)",
      "kafka.secretFiles=sasl.password=\(user).secret", "timestamps=event", "gateway.devicesView=devices.sqlite",
      "console.devicesView=console.sqlite",
    ].flatMap { ["--set", $0] }
  }

  private func properties(of user: String) -> KafkaConfiguration {
    [
      "bootstrap.servers": bootstrap, "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
      "sasl.username": user, "sasl.password": "\(user)-secret", "partitioner": "murmur2_random",
    ]
  }

  /// Runs the printed scripts as the administrator.
  func permit(_ roles: [AccessRole] = AccessRole.allCases) throws {
    try place.put(
      """
      security.protocol=SASL_PLAINTEXT
      sasl.mechanism=PLAIN
      sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
        username="admin" password="admin-secret";

      """, "admin.properties")
    var script = "set -e\n"
    for role in roles {
      let outcome = try place.rouse(
        list: ["topics", "acls", "--principal", "User:\(role.rawValue)", "--roles", role.rawValue]
          + settings(as: role.rawValue))
      #expect(outcome.status == 0, "\(outcome.err)")
      script += outcome.out
    }
    try place.put(script, "script")
    let tools = try #require(ProcessInfo.processInfo.environment["ROUSE_TEST_KAFKA_BIN"])
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["script", "--command-config", "admin.properties"]
    process.currentDirectoryURL = place.folder
    process.environment = ProcessInfo.processInfo.environment.merging(["KAFKA_JMX_OPTS": " "]) { $1 }
      .merging(["PATH": "\(tools):/usr/bin:/bin"]) { $1 }
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  func makeTopics() throws {
    let admin = try KafkaAdmin(properties(of: "admin"))
    _ = try admin.createTopics(
      [KafkaNewTopic(name: prefix + "events", partitions: 1, replicas: nil, configuration: [:])],
      timeout: .seconds(30))
    try expectDone(.create, "topics", "create")
  }

  func start(_ role: Role) throws -> Process {
    let process = Process()
    process.executableURL = Workplace.program
    process.arguments =
      ["run"] + settings(as: role.rawValue)
      + [
        "roles=\(role.rawValue)", "instance=\(role.rawValue)", "policy=policy.yaml", "http.listen=off",
        "planner.workers=1", "audit.store=audit.sqlite", "gateway.listen=127.0.0.1:0", "console.listen=127.0.0.1:0",
      ].flatMap { ["--set", $0] }
    process.currentDirectoryURL = place.folder
    try place.put("", "\(role.rawValue).log")
    process.standardError = try FileHandle(
      forWritingTo: place.folder.appendingPathComponent("\(role.rawValue).log"))
    try process.run()
    return process
  }

  func log(of role: Role) throws -> String { String(decoding: try place.bytes("\(role.rawValue).log"), as: UTF8.self) }

  /// Waits until a role listens.
  func address(of role: Role) throws -> HTTPAddress {
    var found: HTTPAddress?
    try soon("the address", role) { log in
      found = log.firstMatch(of: /address=http:\/\/([0-9.:]+) .*listens/).flatMap { HTTPAddress(String($0.1)) }
      return found != nil
    }
    return try #require(found)
  }

  /// Publishes a record to a topic, named without the prefix of the installation.
  func publish(_ topic: String, _ key: String, _ value: String, as role: AccessRole) throws {
    let producer = try KafkaProducer(properties(of: role.rawValue))
    let name = prefix + (topic.split(separator: ".").last ?? "")
    try producer.send(topic: name, partition: 0, key: Array(key.utf8), value: Array(value.utf8))
    #expect(try producer.flush(timeout: .seconds(30)))
    #expect(producer.takeDeliveryFailures().isEmpty, "\(role.rawValue)")
  }

  /// Runs a command as the user of a role.
  func expectDone(_ role: AccessRole, _ arguments: String...) throws {
    let outcome = try place.rouse(list: arguments + settings(as: role.rawValue))
    #expect(outcome.status == 0, "\(arguments): \(outcome.out)\(outcome.err)")
    #expect(!outcome.err.lowercased().contains("authoriz"), "\(arguments): \(outcome.err)")
  }

  /// Waits until the log of a role says something, for three minutes at most.
  func soon(_ what: String, _ role: Role, _ isSo: (String) throws -> Bool) throws {
    let end = Date(timeIntervalSinceNow: 180)
    while Date() < end {
      if try isSo(log(of: role)) { return }
      Thread.sleep(forTimeInterval: 0.1)
    }
    Issue.record("\(what): never came: \(try Role.defaults.map { try log(of: $0) })")
  }
}
