import Foundation
import HTTPTesting
import Installation
import KafkaClient
import Testing

@testable import rouse

/// Secrets and push tokens are planted where they belong; nothing that people or machines read for operation shows them.
@Suite("Planted secrets")
struct PlantedSecretTests {
  private static let password = "planted-password-5309"
  private static let collectorKey = "planted-key-8675"
  /// Hexadecimal, as tokens are; none is part of another text.
  private static let tokens = ["feedc0de01feedc0de01", "feedc0de02feedc0de02", "feedc0de03feedc0de03"]

  private static let device =
    #"{"device":"d1","app":"com.example.glance","environment":"production","platform":"iOS","osVersion":"26.1","#
    + #""timeZone":"UTC","tokens":{"widgets":"\#(tokens[0])","background":"\#(tokens[1])"},"widgets":[{"id":"w1","#
    + #""kind":"FlightStatus","family":"systemSmall","interests":["flight/UA1"]}],"updatedAt":"2013-06-30T00:00:00Z"}"#
  /// A registration with a mistake, which becomes a dead letter.
  private static let refused = device.replacing("2013-06-30T00:00:00Z", with: "yesterday")
    .replacing(tokens[0], with: tokens[2]).replacing("\"d1\"", with: "\"d2\"")

  @Test("no log line, metric, status or message has a password or a push token", arguments: LogFormat.allCases)
  func run(_ format: LogFormat) throws {
    let broker = try EmbeddedBroker()
    for name in TopicNames().all + ["events"] { try broker.createTopic(name, partitions: 1) }
    let place = try Workplace()
    try place.put(tinyPolicy, "policy.yaml")
    try place.put(Self.password + "\n", "password")
    let collector = try RequestServer()
    try place.put("Authorization: Bearer \(Self.collectorKey)\n", "headers")
    let bearers = try Bearers(place)
    try publish(to: broker, "rouse.devices", [Self.device, Self.refused])
    let run = try RunningRouse(
      [
        "--bootstrap", broker.bootstrapServers, "--set", "policy=policy.yaml", "--set", "membership=dynamic", "--set",
        "kafka.secretFiles=sasl.password=password", "--set", "log.level=trace", "--set",
        "log.format=\(format.rawValue)", "--set", "planner.snapshotFolder=snapshots", "--set",
        "audit.store=audit.sqlite", "--set", "timestamps=event", "--set",
        "traces.endpoint=http://127.0.0.1:\(collector.port)/v1/traces", "--set", "traces.samplesPerMillion=1000000",
        "--set", "traces.headersFile=headers",
      ] + Bearers.settings, in: place)
    func shown(_ metric: String) throws -> Bool? { try run.page("/metrics").contains("\n" + metric) ? true : nil }
    try soon("a letter") { try shown("rouse_dead_letters_total{") }
    try soon("a device") { try shown("rouse_registrations_planned_total 1\n") }
    try publish(to: broker, "events", [delay("e1", 10, at: "15:00:00"), delay("e2", 60, at: "15:01:00")])
    try soon("a command in the audit") { try shown("rouse_audit_stored_total{record=\"command\"} ") }
    var pages: [String] = []
    for page in ["/metrics", "/status", "/readyz", "/livez", "/startupz", "/version"] {
      // A probe that says no is asked again.
      pages.append(try soon(page) { try? run.page(page) })
    }
    for stage in ["intake", "plan", "commit", "audit"] {
      try soon("a span \(stage)") { collector.requests.contains { $0.contains("\"name\":\"\(stage)\"") } ? true : nil }
    }
    let answers = try bearers.send(to: run)
    // The stores have further files while they are open.
    let open = try place.expectPrivate()
    for name in ["audit.sqlite-wal", "devices.view", "changes.access"] {
      #expect(open.contains { $0.hasPrefix(name) }, "\(name) is not among \(open)")
    }
    _ = try run.end()
    let list = try place.rouse("dead-letters", "list", "--bootstrap", broker.bootstrapServers)
    #expect(list.out.contains("rouse.devices"), "\(list.out)\(list.err)")
    // The audit keeps hashes of tokens, so that the run has seen one.
    let export = try place.rouse("audit", "export", "--store", "audit.sqlite", "--out", "-")
    #expect(export.out.contains("\"token\":\"hash:"), "\(export.out)\(export.err)")
    // The collector gets its key in the header, and no other secret.
    let requests = collector.requests
    let header = "Authorization: Bearer \(Self.collectorKey)\r\n"
    #expect(requests.allSatisfy { $0.contains(header) })
    let traces = requests.map { $0.replacing(header, with: "") }
    let access = try place.rouse("audit", "access", "--store", "audit.sqlite")
    #expect(access.out.contains("anna") && access.out.contains("refusedToken"), "\(access.out)\(access.err)")
    for text in pages + traces + answers + [try run.words, list.out, list.err, export.out, export.err, access.out] {
      for secret in Self.tokens + [Self.password, Self.collectorKey] + bearers.secrets {
        #expect(!text.contains(secret), "\(secret): \(text)")
      }
    }
    for arguments in [
      ["audit", "export", "--store", "audit.sqlite", "--out", "export.jsonl"],
      ["keys", "create", "--role", "auditor", "--file", "keys.json"],
    ] {
      let made = try place.rouse(list: arguments)
      #expect(made.status == 0, "\(made.err)")
    }
    let files = try place.expectPrivate()
    for name in ["audit.sqlite", "changes.access", "devices.view", "export.jsonl", "keys.json", "snapshots/"] {
      #expect(files.contains { $0.hasPrefix(name) }, "\(name) is not among \(files)")
    }
  }

  private func publish(to broker: EmbeddedBroker, _ topic: String, _ values: [String]) throws {
    let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers])
    for (number, value) in values.enumerated() {
      try producer.send(topic: topic, partition: 0, key: Array("d\(number + 1)".utf8), value: Array(value.utf8))
    }
    #expect(try producer.flush(timeout: .seconds(60)))
  }
}

/// Tokens of an issuer: one that is right, one that has expired, and one that was changed.
private struct Bearers {
  private let tokens: [String]

  static let settings = [
    "roles=intake,planner,audit,gateway,console", "gateway.listen=127.0.0.1:0", "console.listen=127.0.0.1:0",
    "oidc.issuer=\(TestIssuer.name)", "oidc.audience=\(TestIssuer.audience)", "oidc.keysFile=issuer.json",
    "oidc.grantsFile=grants.json", "gateway.devicesView=devices.view", "gateway.accessFile=changes.access",
  ].flatMap { ["--set", $0] }

  init(_ place: Workplace) throws {
    let issuer = try TestIssuer()
    try place.put(TestIssuer.keySet(issuer), "issuer.json")
    try place.put(
      #"{"grants":[{"value":"a","role":"operator"},{"value":"a","role":"publisher","sources":["/"]}]}"#, "grants.json")
    let now = Int(Date().timeIntervalSince1970)
    let right = try issuer.token(TestIssuer.claims("anna", roles: ["a"], expires: now + 3600))
    let expired = try issuer.token(TestIssuer.claims("anna", roles: ["a"], expires: now - 3600))
    tokens = [right, expired, right.replacing(".", with: ".e", maxReplacements: 1)]
  }

  /// The claims and the signatures.
  var secrets: [String] { tokens.flatMap { $0.split(separator: ".").dropFirst().map(String.init) } }

  /// Sends each token to the gateway and to the console, as a header and as a sign-in.
  ///
  /// - Returns: The answers with their heads.
  func send(to run: RunningRouse) throws -> [String] {
    let (gateway, console) = (try address("gateway", run), try address("console", run))
    let event = #"{"specversion":"1.0","id":"e","source":"/s","type":"t","subject":"a"}"#
    var answers: [String] = []
    for (token, statuses) in zip(tokens, [("202", "200", "303"), ("401", "401", "401"), ("401", "401", "401")]) {
      let bearer = "Authorization: Bearer \(token)"
      let published = try soon("the producer") {
        let answer = try Tool.curl([
          "-i", "\(gateway)/v1/events", "-d", event, "-H", "Content-Type: application/cloudevents+json", "-H", bearer,
        ]).out
        return answer.hasPrefix("HTTP/1.1 503") ? nil : answer
      }
      let looked = try Tool.curl(["-i", "\(console)/v1/devices/d1/timeline", "-H", bearer]).out
      let signedIn = try Tool.curl(["-i", "\(console)/sign-in", "--data-urlencode", "key=\(token)"]).out
      for (answer, status) in zip([published, looked, signedIn], [statuses.0, statuses.1, statuses.2]) {
        #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
      }
      answers += [published, looked, signedIn]
    }
    // A look, and of each of two sorts of refused tokens one at a look and one at the sign-in.
    try soon("the records of the look and the refusals") {
      let written = try run.page("/metrics").firstMatch(
        of: #/console_access_records_total{outcome="written"} ([0-9]+)/#)
      return (written.flatMap { Int($0.1) } ?? 0) >= 5 ? true : nil
    }
    return answers + [try run.page("/metrics"), try run.page("/status")]
  }

  private func address(_ role: String, _ run: RunningRouse) throws -> String {
    try soon("the address of the \(role)") {
      let line = try run.words.split(separator: "\n").first { $0.contains("the \(role) listens") }
      return line?.firstMatch(of: #/http://[0-9.:]+/#).map { String($0.0) }
    }
  }
}
