import Foundation
import Installation
import JSON
import KafkaClient
import Testing

/// The command itself, on a broker with several faults.
@Suite("rouse doctor", .serialized)
struct DoctorTests {
  /// The codes of the findings in JSON, in their order.
  private func codes(_ outcome: Outcome) throws -> [String] {
    guard case .array(let findings) = try JSONValue(parsing: outcome.out)["findings"] else { return [] }
    return findings.compactMap { finding in
      guard case .string(let code) = finding["code"] else { return nil }
      return code
    }
  }

  /// The offsets behind the last record of all partitions.
  private func ends(_ broker: EmbeddedBroker) throws -> [String: Int64] {
    let kafka = KafkaConfiguration([("bootstrap.servers", broker.bootstrapServers), ("group.id", "looking")])
    let consumer = try KafkaConsumer(kafka)
    defer { consumer.close() }
    var ends: [String: Int64] = [:]
    for topic in try KafkaAdmin(kafka).describeCluster(timeout: .seconds(60)).topics {
      for partition in topic.partitions {
        let place = KafkaTopicPartition(topic: topic.name, partition: partition.id)
        ends["\(place)"] = try consumer.watermarks(of: place, timeout: .seconds(60)).high
      }
    }
    return ends
  }

  @Test("a broker that is away is a finding within seconds, and the rest is looked at all the same")
  func away() throws {
    let place = try Workplace()
    let began = ContinuousClock.now
    let outcome = try place.rouse(
      "doctor", "--bootstrap", "127.0.0.1:1", "--set", "http.listen=off", "--format", "json")
    #expect(ContinuousClock.now - began < .seconds(60))
    #expect(outcome.status == 1, "\(outcome.err)")
    #expect(try codes(outcome) == ["BROKER_AWAY", "STORE_MISSING"])
    #expect(try JSONValue(parsing: outcome.out)["wrong"] == .number(1))
    #expect(outcome.err == "")
  }

  @Test("the faults of settings, topics, lag, processes and store are found at once, and nothing is written")
  func faults() throws {
    let broker = try EmbeddedBroker()
    for name in TopicNames().all where name != "rouse.dead-letters" { try broker.createTopic(name, partitions: 2) }
    try broker.createTopic("events", partitions: 3)
    let producer = try KafkaProducer(KafkaConfiguration([("bootstrap.servers", broker.bootstrapServers)]))
    let hourAgo = Int64(Date().timeIntervalSince1970 * 1000) - 3_600_000
    try producer.send(
      topic: "rouse.log", partition: 1, key: nil, value: [1], timestampMilliseconds: hourAgo)
    try producer.send(
      topic: "events", partition: 2, key: nil, value: [1], timestampMilliseconds: hourAgo + 3_400_000)
    #expect(try producer.flush(timeout: .seconds(60)))
    let before = try ends(broker)
    let place = try Workplace()
    try place.put("no database, but long enough to look like something", "rouse-audit.sqlite")
    try place.put("secret\n", "password")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: place.path("password"))
    try place.put(
      """
      kafka:
        bootstrapServers: \(broker.bootstrapServers)
        properties: { group.id: mine }
        secretFiles: { sasl.password: password }
      topics: { partitions: 2 }
      http: { listen: "off" }
      policy: missing.yaml
      """, "rouse.yaml")
    let outcome = try place.rouse(
      "doctor", "--config", "rouse.yaml", "--status", "http://127.0.0.1:1", "--format", "json")
    #expect(outcome.status == 1, "\(outcome.err)")
    #expect(
      try codes(outcome) == [
        "TOPIC_MISSING", "STORE_UNUSABLE", "PLANNER_LAG", "PROCESS_AWAY", "INTAKE_LAG", "POLICY_FILE", "FILE_OPEN",
        "PROPERTY_UNUSED", "NOT_CHECKED",
      ], "\(outcome.out)")
    #expect(
      outcome.out.contains("rouse.log[1]: 1 record waits, the oldest for 60 min, none was read yet"), "\(outcome.out)")
    #expect(!outcome.out.contains("secret\\n") && !outcome.err.contains("secret"))
    #expect(try ends(broker) == before, "doctor has written, or made a topic")
  }

  @Test("warnings alone exit 0, and only the roles of the process count")
  func warnings() throws {
    let broker = try EmbeddedBroker()
    for name in TopicNames().all + ["events"] { try broker.createTopic(name, partitions: 2) }
    let place = try Workplace()
    try place.put("no database, but long enough to look like something", "rouse-audit.sqlite")
    let outcome = try place.rouse(
      "doctor", "--bootstrap", broker.bootstrapServers, "--set", "http.listen=off", "--set", "topics.partitions=2",
      "--set", "roles=intake")
    #expect(outcome.status == 0, "\(outcome.out)")
    // The embedded broker does not tell the settings of topics.
    #expect(
      outcome.out.hasPrefix("warning  NOT_CHECKED: something could not be looked at\n           the settings of "))
    #expect(
      outcome.out.contains(
        "\n0 wrong, 1 warning; Runbook.md explains each code. Not looked at: clock of the brokers ("),
      "\(outcome.out)")
  }

  @Test("settings that are refused are a finding, and a wrong option is wrong use")
  func settings() throws {
    let place = try Workplace()
    try place.put("topics: { partitons: 2 }\n", "rouse.yaml")
    let refused = try place.rouse("doctor", "--config", "rouse.yaml")
    #expect(refused.status == 1)
    #expect(refused.out.hasPrefix("wrong    SETTINGS_REFUSED: "), "\(refused.out)")
    #expect(refused.out.contains("did you mean topics.partitions?"))
    #expect(refused.out.hasSuffix("Not looked at: everything else (the settings cannot be used)\n"))
    for arguments in [["--set", "topics.partitions=none"], ["--status", "ftp://a"]] {
      let wrong = try place.rouse(list: ["doctor"] + arguments)
      #expect(wrong.status == 2 && wrong.out.isEmpty, "\(wrong.err)")
    }
  }

  @Test("a file of header fields that cannot be used, and that others can read, is found and not shown")
  func headersFile() throws {
    let place = try Workplace()
    try place.put("hunter2\n", "headers")
    try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: place.path("headers"))
    let outcome = try place.rouse(
      "doctor", "--bootstrap", "127.0.0.1:1", "--set", "http.listen=off", "--set", "traces.headersFile=headers")
    #expect(outcome.status == 1, "\(outcome.err)")
    for code in ["SECRET_UNREADABLE", "FILE_OPEN"] { #expect(outcome.out.contains(" \(code): "), "\(outcome.out)") }
    #expect(outcome.out.contains("headers:1: expected name: value"), "\(outcome.out)")
    #expect(!(outcome.out + outcome.err).contains("hunter2"), "\(outcome.out)\(outcome.err)")
  }
}
