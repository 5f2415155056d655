import Auditing
import Backtesting
import Domain
import Foundation
import HTTPTesting
import JSON
import KafkaClient
import Keys
import Policies
import Serving
import Testing

@testable import Console
@testable import Installation
@testable import Operating

/// An embedded broker with the topics of the console, and a dead letter of each sort.
enum ConsoleBroker {
  /// Runs a body, on a thread of its own, against a console with a broker.
  ///
  /// - Parameters:
  ///   - batch: The content of the store.
  ///   - keys: The key file; nil for no keys.
  ///   - tokens: The tokens that are taken; nil for none.
  ///   - process: The process of the console; nil if it is not known.
  ///   - prepare: Gets the broker before the console begins.
  ///   - body: Gets the console.
  static func run(
    _ batch: AuditBatch = Sample.batch(), keys: KeyFile? = nil, tokens: TokenVerifier? = nil,
    process: ConsoleProcess? = nil, prepare: (EmbeddedBroker) throws -> Void = { _ in },
    _ body: @escaping @Sendable (RunningConsole) throws -> Void
  ) async throws {
    let broker = try EmbeddedBroker()
    try broker.createTopic("rouse.log", partitions: 2)
    for topic in ["rouse.dead-letters", "rouse.devices", "rouse.signals", "events"] {
      try broker.createTopic(topic, partitions: 1)
    }
    let producer = try KafkaProducer(
      KafkaConfiguration([("bootstrap.servers", broker.bootstrapServers), ("enable.idempotence", "true")]))
    for (key, topic) in [("e-1", "events"), (Sample.hostile.text, "events"), ("c", nil)] as [(String, String?)] {
      try producer.send(
        topic: "rouse.dead-letters", partition: 0, key: Array(key.utf8), value: Array("{\"id\":\"\(key)\"}".utf8),
        headers: [
          KafkaHeader("rouse-reason", "MISSING_FIELD"), KafkaHeader("rouse-message", "$.time: missing \(key)"),
        ]
          + (topic.map {
            [
              KafkaHeader("rouse-origin-topic", $0), KafkaHeader("rouse-origin-partition", "0"),
              KafkaHeader("rouse-origin-offset", "7"),
            ]
          } ?? []))
    }
    #expect(try producer.flush(timeout: .seconds(60)) && producer.takeDeliveryFailures().isEmpty)
    try prepare(broker)
    let bootstrap = broker.bootstrapServers
    try await RunningConsole.run(batch, keys: keys, tokens: tokens) {
      $0.cluster = ClusterSettings(
        kafka: KafkaConfiguration([("bootstrap.servers", bootstrap)]), eventTopics: ["events"])
      $0.limits.requestSeconds = 1
      $0.process = process
    } _: {
      try body($0)
    }
  }
}

@Suite("Policies and dead letters over HTTP", .serialized) struct ClusterTests {
  static let yaml = ("Content-Type", "application/yaml")
  static let policy = """
    version: "1"
    kinds:
      FlightStatus:
        surface: widget
        budget: { perDay: 48 }
        displays:
          - { field: data.status }
        rules:
          - event: flight.delay.changed
            interests: ["{subject}"]

    """
  static let other = policy.replacing("perDay: 48", with: "perDay: 40").replacing("\"1\"", with: "\"2\"")

  @Test("a policy is checked, explained and compared as by the command line, and mistakes have line and column")
  func policies() async throws {
    try await RunningConsole.run { console in
      let client = try console.client()
      let document = try PolicyDocument(yaml: Self.policy, file: "body")
      let checked = try client.ask("POST", "/v1/policies/check", [Self.yaml], Self.policy)
      var json = JSONWriter()
      PolicyCheck(document, file: "body").encode(to: &json)
      #expect(checked.status == 200 && checked.body == json.bytes + [10])
      let wrong = try client.ask("POST", "/v1/policies/check", [Self.yaml], "version: 1\nkindz: {}\n")
      #expect(try wrong.json["valid"] == .bool(false))
      #expect(
        try wrong.json["problems"]?.elements.contains { $0["line"] == .number(2) && $0["column"] == .number(1) } == true
      )
      let explained = try client.ask("POST", "/v1/policies/explain?kind=FlightStatus", [Self.yaml], Self.policy)
      #expect(explained.text == PolicyExplanation(document, kind: "FlightStatus").jsonLines)
      #expect(try client.ask("POST", "/v1/policies/explain?kind=Fligt", [Self.yaml], Self.policy).status == 400)
      let refused = try client.ask("POST", "/v1/policies/explain", [Self.yaml], "version: 1\nkindz: {}\n")
      #expect(refused.status == 400)
      #expect(try refused.json["type"] == .string("urn:rouse:problem:policy-refused"))
      #expect(try refused.json["errors"]?.elements.contains { $0["line"] == .number(2) } == true)
      for body in [
        "", "\u{0}", "- - -", "*x", "profile: /etc/passwd\nversion: \"1\"\nkinds: {}", "a: \(Sample.hostile.text)",
      ] {
        #expect(try client.ask("POST", "/v1/policies/explain", [Self.yaml], body).status == 400, "\(body)")
        #expect(try client.ask("POST", "/v1/policies/check", [Self.yaml], body).json["valid"] == .bool(false))
      }
      let both = JSONWriter.text(of: [("old", Self.policy), ("new", Self.other)])
      let changed = try client.ask("POST", "/v1/policies/diff", [("Content-Type", "application/json")], both)
      let new = try PolicyDocument(yaml: Self.other, file: "new").policy
      #expect(
        changed.text == PolicyDifference(from: document.policy, to: new).jsonLines && changed.text.contains("perDay"))
      for body in ["{}", "[", "{\"old\":1,\"new\":2}"] {
        #expect(try client.ask("POST", "/v1/policies/diff", [("Content-Type", "application/json")], body).status == 400)
      }
      #expect(try client.ask("POST", "/v1/policies/check", [("Content-Type", "text/plain")], Self.policy).status == 415)
    }
  }

  @Test("an operator applies a policy; the log says who did; what is in force is told, and compared with another")
  func apply() async throws {
    let time = Timestamp(microseconds: 1_700_000_000_000_000)
    let boss = AccessKey.make(.operator, created: time)
    var file = KeyFile()
    file.keys = [boss.key]
    try await ConsoleBroker.run(keys: file) { console in
      let client = try console.client()
      let key = ("Authorization", "Bearer \(boss.secret)")
      #expect(try client.ask("GET", "/v1/policies/active", [key]).json["withoutPolicy"] == .number(2))
      #expect(try client.ask("POST", "/v1/policies/diff", [key, Self.yaml], Self.other).status == 409)
      let trial = try client.ask("POST", "/v1/policies/apply?dryRun=true", [key, Self.yaml], Self.policy)
      #expect(try trial.status == 200 && trial.json["applied"] == .bool(false))
      #expect(try client.ask("GET", "/v1/policies", [key]).json["policies"] == .array([]))
      let applied = try client.ask("POST", "/v1/policies/apply", [key, Self.yaml], Self.policy)
      let reference = try PolicyDocument(yaml: Self.policy, file: "body").policy.reference
      #expect(try applied.status == 200 && applied.json["hash"] == .string(reference.hash.text), "\(applied.text)")
      let active = try client.ask("GET", "/v1/policies/active", [key]).json
      #expect(active["policies"]?[0]?["hash"] == .string(reference.hash.text))
      #expect(active["policies"]?[0]?["appliedBy"] == .string(boss.key.id))
      #expect(active["policies"]?[0]?["inForceOn"] == .array([.number(0), .number(1)]))
      #expect(try client.ask("POST", "/v1/policies/diff", [key, Self.yaml], Self.other).text.contains("perDay"))
      let tag = try #require(try client.ask("GET", "/v1/policies/active", [key]).headers["etag"])
      #expect(tag == "\"\(reference.hash)\"")
      for wrong in [("If-Match", "\"0\""), ("If-None-Match", "*")] {
        let refused = try client.ask("POST", "/v1/policies/apply?dryRun=true", [key, Self.yaml, wrong], Self.other)
        #expect(refused.status == 412 && refused.text.contains("\(reference.hash)"), "\(refused.text)")
      }
      let right = try client.ask("POST", "/v1/policies/apply", [key, Self.yaml, ("If-Match", tag)], Self.other)
      #expect(right.status == 200, "\(right.text)")
      let late = try client.ask("POST", "/v1/policies/apply", [key, Self.yaml, ("If-Match", tag)], Self.policy)
      #expect(late.status == 412 && late.text.contains("applied by \(boss.key.id)"), "\(late.text)")
      let history = try client.ask("GET", "/v1/policies", [key]).json
      #expect(history["complete"] == .bool(true))
      #expect(history["policies"]?.elements.map { $0["version"] } == [.string("2"), .string("1")])
      let form = try #require(Self.policy.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
      let posted = [key, ("Content-Type", "application/x-www-form-urlencoded")]
      let wrong = Self.policy.replacing("perDay: 48", with: "perDay: many").replacing("event:", with: "<b>:")
      let marked = PageCheck(try client.ask("POST", "/policy", posted, "policy=\(PageLink.escaped(wrong))").text)
      #expect(marked.mistakes.isEmpty && marked.text.contains("The mistakes in their places"), "\(marked.mistakes)")
      // The line itself, with its indentation, and what is wrong with it.
      #expect(
        marked.text.contains("    budget: { perDay: many }") && marked.text.contains("column 23: "), "\(marked.text)")
      #expect(marked.text.contains("      - <b>: flight.delay.changed"))
      let overtaken = try client.ask("POST", "/policy/apply", posted, "policy=\(form)&replaces=\(reference.hash)")
      #expect(overtaken.status == 412 && overtaken.text.contains("The policy was not applied"), "\(overtaken.text)")
      let second = try PolicyDocument(yaml: Self.other, file: "body").policy.reference
      let page = try client.ask("POST", "/policy/apply", posted, "policy=\(form)&replaces=\(second.hash)")
      #expect(page.status == 200 && page.text.contains(reference.hash.text), "\(page.text)")
      #expect(!page.text.contains(second.hash.text), "the policy from before is not named")
      let again = try client.ask("GET", "/v1/policies", [key]).json["policies"]?[0]
      #expect(again?["version"] == .string("1") && again?["appliedBy"] == .string(boss.key.id))
      // Pages do not wait for the log, so the first one starts the reading.
      var policy = ""
      while policy.matches(of: #/href="\/policy\/records\//#).count < 3 {
        policy = try client.ask("GET", "/policy", [key]).text
      }
      let list = PageCheck(policy)
      #expect(list.mistakes.isEmpty && list.text.contains("\(boss.key.id)"), "\(list.mistakes)")
      let offsets = list.links.compactMap { link in
        link.address.hasPrefix("/policy/records/") ? link.address.dropFirst(16) : nil
      }
      #expect(offsets.count == 3)
      let newest = PageCheck(try client.ask("GET", "/policy/records/\(offsets[0])", [key]).text)
      #expect(newest.mistakes.isEmpty && newest.text.contains("kinds.FlightStatus.budget.perDay"))
      let changes = try client.ask("GET", "/policy/difference?from=\(offsets[1])&to=\(offsets[0])", [key]).text
      #expect(PageCheck(changes).mistakes.isEmpty && PageCheck(changes).text.contains("budget.perDay"))
      let csv = try client.ask(
        "GET", "/policy/difference?from=\(offsets[1])&to=\(offsets[0])&table=changes", [key]
      ).text
      #expect(csv.hasPrefix("Value,2,1\r\n") && csv.contains("kinds.FlightStatus.budget.perDay,40,48\r\n"), "\(csv)")
      for (path, status) in [
        ("/policy/records/999", 404), ("/policy/records/x", 400), ("/policy/difference?from=\(offsets[0])", 400),
      ] {
        #expect(try client.ask("GET", path, [key]).status == status, "\(path)")
      }
      let values = try client.ask("GET", "/v1/policies/active/values?format=csv", [key]).text
      #expect(values.contains("kinds.FlightStatus.budget.perDay,48,the log:"), "\(values)")
      #expect(try client.ask("GET", "/v1/policies?format=csv", [key]).text.split(separator: "\r\n").count == 4)
      let records = try AccessStore.openToRead(path: AccessStore.path(besides: console.storePath)).newest(limit: 10)
      #expect(
        records.map(\.operation) == ["policyApplyPage", "policyApplyPage"] + Array(repeating: "applyPolicy", count: 6))
      #expect(records.first?.subject == Identifier("1 \(reference.hash)"))
      #expect(records.last?.subject == Identifier("1 \(reference.hash) dryRun"))
    }
  }

  @Test("after another policy was applied, no page names the one from before as the one in force")
  func appliedPage() async throws {
    try await ConsoleBroker.run { console in
      let client = try console.client()
      func page() throws -> String { try client.ask("GET", "/policy", [("Accept", "text/html")]).text }
      let first = try client.ask("POST", "/v1/policies/apply", [Self.yaml], Self.policy)
      #expect(first.status == 200)
      let began = ContinuousClock.now
      while try !page().contains("In force: version 1,") {
        try #require(ContinuousClock.now - began < .seconds(60))
        sched_yield()
      }
      let second = try client.ask("POST", "/v1/policies/apply", [Self.yaml], Self.other)
      #expect(second.status == 200)
      while true {
        let text = try page()
        #expect(!text.contains("In force: version 1,"))
        if text.contains("In force: version 2,") { break }
        try #require(ContinuousClock.now - began < .seconds(120))
        sched_yield()
      }
    }
  }

  @Test("a policy that one partition refuses is told as partly applied, with what to do")
  func partlyApplied() async throws {
    try await ConsoleBroker.run { broker in
      broker.pushRequestErrors(.produce, [.topicAuthorizationFailed])
    } _: { console in
      let client = try console.client()
      let answer = try client.ask("POST", "/v1/policies/apply", [Self.yaml], Self.policy)
      #expect(
        answer.status == 503 && answer.text.contains("1 of the 2 log partitions did not confirm"), "\(answer.text)")
      #expect(answer.text.contains("apply it again, which does no harm") && !answer.text.contains("did not do it"))
      let active = try client.ask("GET", "/v1/policies/active").json
      #expect(active["withoutPolicy"] == .number(1) && active["policies"]?.elements.count == 1)
      #expect(try client.ask("POST", "/v1/policies/apply", [Self.yaml], Self.policy).status == 200)
      #expect(try client.ask("GET", "/v1/policies/active").json["withoutPolicy"] == .number(0))
    }
  }

  @Test("positions that the cluster refuses to tell are not known, and the page says which permission is missing")
  func refusedPositions() async throws {
    try await ConsoleBroker.run { broker in
      // Requests for committed offsets.
      broker.pushRequestErrors(KafkaRequest(rawValue: 9), Array(repeating: .groupAuthorizationFailed, count: 50))
    } _: { console in
      let client = try console.client()
      let lag = try client.ask("GET", "/v1/lag").json["partitions"]?.elements ?? []
      #expect(lag.contains { $0["role"] == .string("planner") })
      #expect(lag.allSatisfy { $0["waiting"] == nil && $0["lost"] == nil })
      var page = ""
      repeat {
        page = try client.ask("GET", "/health", [("Accept", "text/html")]).text
      } while page.contains(
        "The brokers are being asked")
      #expect(
        page.contains("the cluster refuses Describe on the group") && page.contains("rouse topics acls --role console"))
      #expect(page.contains("not known"))
    }
  }

  @Test("the lag of planners whose positions the brokers do not tell is that which the planners of this process tell")
  func ownPlanners() async throws {
    let process = ConsoleProcess {
      ConsoleProcess.RunningState(
        roles: [.init(.console), .init(.planner)],
        partitions: [.init(number: 0, state: "planning", next: 0), .init(number: 1, state: "restoring")])
    }
    try await ConsoleBroker.run(process: process) { broker in
      // Requests for committed offsets.
      broker.pushRequestErrors(KafkaRequest(rawValue: 9), Array(repeating: .groupAuthorizationFailed, count: 50))
    } _: { console in
      let lag = try console.client().ask("GET", "/v1/lag").json["partitions"]?.elements ?? []
      let log = lag.filter { $0["role"] == .string("planner") }
      #expect(log.map { $0["partition"] } == [.number(0), .number(1)])
      #expect(log.first?["next"] == .number(0) && log.first?["waiting"] == .number(0))
      // The second one has not read its state yet.
      #expect(log.last?["next"] == nil && log.last?["waiting"] == nil)
    }
  }

  @Test("dead letters are listed, looked into and replayed once")
  func deadLetters() async throws {
    try await ConsoleBroker.run { console in
      let client = try console.client()
      let listed = try client.ask("GET", "/v1/dead-letters")
      #expect(try listed.json.elements.map { $0["place"] } == [2, 1, 0].map { .string("rouse.dead-letters[0]@\($0)") })
      #expect(try client.ask("GET", "/v1/dead-letters?reason=TOO_LARGE").json == .array([]))
      let unknown = try client.ask("GET", "/v1/dead-letters?reason=TOO_LARG")
      #expect(unknown.status == 400 && unknown.text.contains("did you mean TOO_LARGE?"), "\(unknown.text)")
      #expect(try client.ask("GET", "/v1/dead-letters?limit=1&format=csv").text.hasPrefix("place,at,reason,"))
      let letter = try client.ask("GET", "/v1/dead-letters/0/1").json
      #expect(letter["key"]?["text"] == .string(Sample.hostile.text))
      for path in ["/v1/dead-letters/0/99", "/v1/dead-letters/0/99/replay"] {
        #expect(try client.ask(path.hasSuffix("y") ? "POST" : "GET", path).status == 404, "\(path)")
      }
      #expect(try client.ask("GET", "/v1/dead-letters/x/-1").status == 400)
      let first = try client.ask("POST", "/v1/dead-letters/0/0/replay")
      #expect(try first.status == 200 && first.json["replayed"] == .bool(true), "\(first.text)")
      let second = try client.ask("POST", "/v1/dead-letters/0/0/replay")
      #expect(try second.json["replayedBefore"] == .bool(true) && second.json["replayed"] == .bool(false))
      #expect(try client.ask("POST", "/v1/dead-letters/0/2/replay").status == 409)
      #expect(try client.ask("GET", "/v1/dead-letters?waiting=true").json.elements.count == 2)
    }
  }

  @Test("push tokens of refused registrations and signals are shown as hashes, and the bytes stay as they are")
  func tokens() async throws {
    let token = String(repeating: "0aF9", count: 16)
    let values = [
      "{\"tokens\":{\"widgets\":\"\(token)\"},\"widgets\":[]}", "{\"token\" : \"no digits at all\", \"id\": \"w\\\"1\"",
      "not JSON \(token) <", "\u{feff}{'token':'\(token)'}",
    ]
    try await ConsoleBroker.run { broker in
      let producer = try KafkaProducer(
        KafkaConfiguration([("bootstrap.servers", broker.bootstrapServers), ("enable.idempotence", "true")]))
      for value in values {
        try producer.send(
          topic: "rouse.dead-letters", partition: 0, key: Array("d-1".utf8), value: Array(value.utf8),
          headers: [
            KafkaHeader("rouse-reason", "MALFORMED_JSON"), KafkaHeader("rouse-message", "found \"\(token)\""),
            KafkaHeader("rouse-origin-topic", "rouse.devices"), KafkaHeader("rouse-origin-partition", "0"),
            KafkaHeader("rouse-origin-offset", "7"), KafkaHeader("traceparent", "00-\(token.prefix(32))-0-01"),
          ])
      }
      #expect(try producer.flush(timeout: .seconds(60)))
    } _: { console in
      let client = try console.client()
      for (offset, value) in zip(3..., values) {
        let letter = try client.ask("GET", "/v1/dead-letters/0/\(offset)")
        #expect(!letter.text.contains(token) && !letter.text.contains("no digits"), "\(letter.text)")
        #expect(letter.text.contains("hash:") && letter.text.contains("00-\(token.prefix(32))-0-01"))
        #expect(try letter.json["bytes"] == .number(Double(value.utf8.count)))
        let page = try client.ask("GET", "/dead-letters/0/\(offset)", [("Accept", "text/html")]).text
        #expect(!page.contains(token) && !page.contains("no digits") && page.contains("hash:"), "\(page)")
      }
      let second = try client.ask("GET", "/v1/dead-letters/0/4").json["value"]?["text"]?.text
      #expect(second?.hasSuffix(", \"id\": \"w\\\"1\"") == true, "\(second ?? "none")")
      for path in ["/v1/dead-letters", "/v1/dead-letters?format=csv", "/dead-letters/csv"] {
        let list = try client.ask("GET", path)
        #expect(list.status == 200 && !list.text.contains(token) && list.text.contains("hash:"), "\(path)")
      }
    }
  }

  @Test("all letters with a reason are replayed together, except those that must not be")
  func replayByReason() async throws {
    try await ConsoleBroker.run { console in
      let client = try console.client()
      #expect(try client.ask("POST", "/v1/dead-letters/replay").text.contains("reason: missing; name the reason"))
      #expect(try client.ask("POST", "/v1/dead-letters/replay?reason=NOPE").status == 400)
      let none = try client.ask("POST", "/v1/dead-letters/replay?reason=TOO_LARGE")
      #expect(try none.json["replayed"] == .array([]) && none.json["next"] == nil, "\(none.text)")
      let first = try client.ask("POST", "/v1/dead-letters/replay?reason=MISSING_FIELD").json
      #expect(first["replayed"]?.elements == [0, 1].map { .string("rouse.dead-letters[0]@\($0)") })
      #expect(first["refused"]?.elements.map { $0["place"] } == [.string("rouse.dead-letters[0]@2")])
      #expect(first["refused"]?[0]?["why"]?.text?.contains("do not name its origin") == true)
      let again = try client.ask("POST", "/v1/dead-letters/replay?reason=MISSING_FIELD&limit=1").json
      #expect(again["replayed"] == .array([]) && again["refused"]?.elements.count == 1)
      #expect(try client.ask("POST", "/v1/dead-letters/replay?reason=MISSING_FIELD&cursor=x").status == 400)
    }
  }

  @Test("a replay by reason goes on behind letters that must not be replayed")
  func replayOlder() async throws {
    try await ConsoleBroker.run { console in
      let client = try console.client()
      let newest = try client.ask("POST", "/v1/dead-letters/replay?reason=MISSING_FIELD&limit=1").json
      #expect(newest["replayed"] == .array([]) && newest["refused"]?.elements.count == 1)
      var (next, replayed): (String?, [JSONValue]) = (newest["next"]?.text, [])
      while let address = next {
        let older = try client.ask("POST", address).json
        replayed += older["replayed"]?.elements ?? []
        next = older["next"]?.text
      }
      #expect(replayed == [1, 0].map { .string("rouse.dead-letters[0]@\($0)") })
    }
  }

  @Test("the page of a letter can replay it or try it, and the page of a reason can replay all of it")
  func letterPages() async throws {
    try await ConsoleBroker.run { console in
      let client = try console.client()
      func ask(_ method: String, _ path: String, _ fields: [String: String] = [:]) throws -> (PageCheck, Int) {
        let body = fields.map { "\($0.key)=\(PageLink.escaped($0.value))" }.joined(separator: "&")
        let answer = try client.ask(
          method, path, [("Accept", "text/html"), ("Content-Type", "application/x-www-form-urlencoded")], body)
        let page = PageCheck(answer.text)
        #expect(page.mistakes.isEmpty, "\(path): \(page.mistakes.prefix(3))")
        return (page, answer.status)
      }
      // The brokers are asked for it, whether or not the console has seen it yet.
      let (letter, status) = try ask("GET", "/dead-letters/0/0")
      #expect(status == 200 && letter.text.contains("missing e-1"))
      #expect(letter.links.filter { $0.method == "POST" }.map(\.address).sorted() == ["/dead-letters", "/try"])
      #expect(try ask("GET", "/dead-letters/0/99").1 == 404 && ask("GET", "/dead-letters/x/0").1 == 400)
      // The third one does not say where it came from.
      #expect(
        try ask("GET", "/dead-letters/0/2").0.links.filter { $0.method == "POST" }.map(\.address) == ["/dead-letters"])
      let token = try #require(letter.hidden[ConsoleSessions.tokenField])
      let tried = try ask("POST", "/try", ["event": #"{"id":"e-1"}"#, ConsoleSessions.tokenField: token])
      #expect(tried.1 == 200 && tried.0.text.contains("Intake would make it a dead letter with the reason"))
      // An attempt on the policy in force has an address of its own, which can be sent to a colleague.
      _ = try client.ask("POST", "/v1/policies/apply", [Self.yaml], Self.policy)
      let event = #"{"specversion":"1.0","id":"1","source":"/s","type":"flight.delay.changed","subject":"flight/<b>"}"#
      var known: String?
      // Pages do not wait for the brokers, so the policy is known a little later.
      try ServiceTests.soon {
        let attempt = try ask(
          "POST", "/try", ["event": event, "policy": Self.policy, ConsoleSessions.tokenField: token])
        known = attempt.0.links.first { $0.address.hasPrefix("/try?document=") }?.address
        return known != nil
      }
      let address = try #require(known)
      let again = try ask("GET", address)
      #expect(again.1 == 200 && again.0.text.contains("Rule 1 matches: flight.delay.changed"))
      #expect(again.0.links.contains { $0.address == address })
      let edited = try ask(
        "POST", "/try", ["event": event, "policy": Self.other, ConsoleSessions.tokenField: token])
      #expect(
        edited.0.text.contains("Rule 1 matches") && !edited.0.links.contains { $0.address.hasPrefix("/try?document=") })
      var fields = ["reason": "MISSING_FIELD", ConsoleSessions.tokenField: token, "cursor": "x"]
      #expect(try ask("POST", DeadLettersPage.reasonPath, fields).1 == 400)
      // Behind the newest one, which must not be replayed, there is nothing to leave out.
      let part = try client.ask("POST", "/v1/dead-letters/replay?reason=MISSING_FIELD&limit=1").json
      let next = try #require(part["next"]?.text?.firstMatch(of: /cursor=([^&]+)/)?.1.removingPercentEncoding)
      fields["cursor"] = next
      let older = try ask("POST", DeadLettersPage.reasonPath, fields).0.text
      #expect(
        older.contains("2 letters with the reason MISSING_FIELD replayed") && !older.contains("left out"), "\(older)")
      fields["cursor"] = nil
      let replayed = try ask("POST", DeadLettersPage.reasonPath, fields)
      #expect(replayed.0.text.contains("0 letters with the reason MISSING_FIELD replayed"), "\(replayed.0.text)")
      #expect(replayed.0.text.contains("1 letter left out") && replayed.0.text.contains("do not name its origin"))
      try ServiceTests.soon { try ask("GET", "/dead-letters/0/1").0.text.contains("It was replayed at ") }
    }
  }

  @Test("the missed changes that no reloads could have shown are those of the command line")
  func objectives() async throws {
    let yaml = Self.policy.replacing(
      "    surface: widget\n",
      with: "    surface: widget\n    objective: { freshWithin: 10m, share: 0.95, wrongAtLeast: 0.3 }\n")
    var batch = AuditBatch()
    var direct = ObjectiveHindsight(try PolicyDocument(yaml: yaml, file: "p").policy, share: 1)
    for n in 1...200 {
      let decision = Sample.decision(
        n, event: "e\(n)", device: n % 2 == 0 ? "phone" : "tablet", objective: n % 3 == 0 ? .missed : .met)
      batch.append(decision)
      direct.take(decision)
    }
    let expected = try #require(direct.results().first?.objective)
    #expect(expected.changes == 200 && expected.met < 200)
    try await ConsoleBroker.run(batch) { console in
      let client = try console.client()
      #expect(try client.ask("GET", "/v1/objectives").status == 409)
      _ = try client.ask("POST", "/v1/policies/apply", [Self.yaml], yaml)
      let answer = try client.ask("GET", "/v1/objectives?sample=1").json
      #expect(answer["complete"] == .bool(true) && answer["zones"]?.text == "utc" && answer["sample"] == .number(1))
      let kind = try #require(answer["kinds"]?.elements.first)
      #expect(kind["changes"] == .number(200) && kind["instances"] == .number(Double(expected.instances)))
      #expect(kind["met"] == .number(Double(expected.met)))
      #expect(kind["possible"] == .number(Double(expected.possible)))
      let csv = try client.ask("GET", "/v1/objectives?sample=1&format=csv").text.split(separator: "\r\n")
      #expect(csv.count == 2 && csv[1].hasPrefix("FlightStatus,600"))
      let range = try client.ask(
        "GET", "/v1/objectives?sample=1&to=\(Sample.start + .seconds(101))"
      ).json["kinds"]?.elements.first
      #expect(range?["changes"] == .number(100))
      for sample in ["0", "1.1", "x"] {
        #expect(try client.ask("GET", "/v1/objectives?sample=\(sample)").status == 400)
      }
    }
  }

  @Test("no text of a policy or of a dead letter becomes markup on the pages that ask the brokers, and the lag is told")
  func hostilePages() async throws {
    let texts = PageSample.hostile.map(\.text)
    try await ConsoleBroker.run(PageSample.hostileBatch()) { broker in
      let producer = try KafkaProducer(KafkaConfiguration([("bootstrap.servers", broker.bootstrapServers)]))
      for text in texts {
        try producer.send(
          topic: "rouse.dead-letters", partition: 0, key: Array(text.utf8), value: Array(text.utf8),
          headers: [
            KafkaHeader("rouse-reason", text), KafkaHeader("rouse-message", text),
            KafkaHeader("rouse-origin-topic", text), KafkaHeader("rouse-origin-partition", "0"),
            KafkaHeader("rouse-origin-offset", "1"),
          ])
      }
      #expect(try producer.flush(timeout: .seconds(60)) && producer.takeDeliveryFailures().isEmpty)
    } _: { console in
      let client = try console.client()
      func page(_ path: String) throws -> PageCheck {
        let answer = try client.ask("GET", path, [("Accept", "text/html")])
        let page = PageCheck(answer.text)
        #expect(answer.status == 200 && page.mistakes.isEmpty, "\(path): \(answer.status) \(page.mistakes.prefix(4))")
        return page
      }
      func soon(_ path: String, _ isDone: (PageCheck) -> Bool) throws -> PageCheck {
        let began = ContinuousClock.now
        while true {
          let page = try page(path)
          if isDone(page) { return page }
          try #require(ContinuousClock.now - began < .seconds(60), "\(path): \(page.text)")
          sched_yield()
        }
      }
      let overview = try soon("/") { $0.text.contains("records wait, asked ") }
      #expect(overview.text.contains("Lag "))
      var applied: [String] = []
      for text in texts {
        let quoted = JSONWriter.text(of: [("a", text)]).dropFirst(5).dropLast()
        let policy = Self.policy.replacing("\"1\"", with: quoted).replacing("FlightStatus:", with: "\(quoted):")
        if try client.ask("POST", "/v1/policies/apply", [Self.yaml], policy).status == 200 { applied.append(text) }
      }
      // A policy takes no long versions, and no characters that nobody sees.
      #expect(applied.count >= 7 && applied.contains(texts[0]), "\(applied)")
      let last = try #require(applied.last)
      let inForce = try soon("/policy") { page in
        page.links.count { $0.address.hasPrefix("/policy/records/") } == applied.count
          && page.text.contains("In force: version \(PageText.safe(last))")
      }
      for text in applied { #expect(inForce.text.contains(PageText.safe(text)), "\(text)") }
      let offsets = inForce.links.compactMap { link in
        link.address.hasPrefix("/policy/records/") ? link.address.dropFirst(16) : nil
      }
      for (new, old) in zip(offsets, offsets.dropFirst()) {
        _ = try page("/policy/records/\(new)")
        _ = try page("/policy/difference?from=\(old)&to=\(new)")
      }
      // The template of an event takes the type and the fields of the kind in force.
      let event = try page("/try?event=\(PageLink.escaped(texts[0]))&kind=\(PageLink.escaped(last))")
      #expect(event.text.contains("\"type\": \"flight.delay.changed\"") && event.text.contains("\"status\": null"))
      let letters = try soon("/dead-letters") { $0.text.contains("By reason") }
      for text in texts { #expect(letters.text.contains(PageText.safe(text)), "\(text)") }
      for (n, text) in texts.enumerated() {
        let inside = try page("/dead-letters/0/\(n + 3)")
        #expect(inside.text.contains("Letter 0@\(n + 3)") && inside.text.contains(PageText.safe(text)), "\(text)")
        _ = try page("/dead-letters?reason=\(PageLink.escaped(text))")
      }
      let health = try page("/health")
      #expect(health.text.contains("Partitions and their readers") && health.text.contains("Roles of this process"))
      for text in texts { #expect(health.text.contains(PageText.safe(text)), "\(text)") }
    }
  }

  @Test("the CSV of dead letters has more than one part of the list, and only those of the reason")
  func manyLetters() async throws {
    let count = 1_200
    try await ConsoleBroker.run { broker in
      let producer = try KafkaProducer(KafkaConfiguration([("bootstrap.servers", broker.bootstrapServers)]))
      for n in 0..<count {
        try producer.send(
          topic: "rouse.dead-letters", partition: 0, key: Array("k\(n)".utf8), value: [123, 125],
          headers: [KafkaHeader("rouse-reason", "TOO_LARGE"), KafkaHeader("rouse-message", "letter \(n)")])
      }
      #expect(try producer.flush(timeout: .seconds(60)) && producer.takeDeliveryFailures().isEmpty)
    } _: { console in
      let client = try console.client()
      let csv = try client.ask("GET", "/dead-letters/csv?reason=TOO_LARGE")
      let lines = csv.text.split(separator: "\r\n")
      #expect(csv.status == 200 && lines.count == 1 + count && lines[0].hasPrefix("place,at,reason,"), "\(lines.count)")
      #expect(lines[1].contains("letter \(count - 1)") && lines[count].contains("letter 0,"))
      let every = try client.ask("GET", "/dead-letters/csv").text
      for offset in [0, 2, count + 2] { #expect(every.contains("rouse.dead-letters[0]@\(offset),"), "\(offset)") }
      let records = try AccessStore.openToRead(path: AccessStore.path(besides: console.storePath)).newest(limit: 1)
      #expect(records.map(\.operation) == ["deadLettersTable"])
    }
  }

  @Test(
    "without Kafka the answer is 503 within seconds, with what to do; questions to the store are answered meanwhile")
  func unreachable() async throws {
    try await RunningConsole.run { console in
      let began = ContinuousClock.now
      let waiting = try console.client()
      waiting.send("GET", "/v1/policies/active")
      #expect(try console.ask("/v1/summary").status == 200)
      let answer = try #require(waiting.answer())
      #expect(answer.status == 503 && answer.text.contains("kafka.bootstrapServers"), "\(answer.text)")
      #expect(answer.headers["retry-after"] == "5")
      #expect(ContinuousClock.now - began < .seconds(60), "it waits 4 s, and more on a busy machine")
    }
  }
}

extension JSONWriter {
  /// Returns an object with texts.
  static func text(of members: [(String, String)]) -> String {
    var json = JSONWriter()
    json.object { json in
      for (key, value) in members {
        json.key(key)
        json.string(value)
      }
    }
    return json.text
  }
}
