import Auditing
import Domain
import HTTPTesting
import Installation
import JSON
import Keys
import Operating
import Serving
import Synchronization
import Testing

@testable import Console

/// The server does what `schemas/openapi.yaml` says, and nothing else.
@Suite("Contract of the console") struct ContractTests {
  /// An operation, with a request that is answered, one whose query has a mistake, and other paths with their answers.
  private struct ContractRequest: Sendable {
    var operation: String
    var path: String
    var bad: String
    var method = "GET"
    var body = ""
    var others: [String: Int] = [:]
    var othersHeader: (String, String)?

    init(
      _ operation: String, _ path: String, bad: String, method: String = "GET", body: String = "",
      others: [String: Int] = [:], othersHeader: (String, String)? = nil
    ) {
      (self.operation, self.path, self.bad) = (operation, path, bad)
      (self.method, self.body, self.others, self.othersHeader) = (method, body, others, othersHeader)
    }

    var isForOperators: Bool {
      ["applyPolicy", "replayDeadLetter", "replayDeadLetters", "listAccess"].contains(operation)
    }
    var type: (String, String) { ("Content-Type", "application/yaml") }
  }

  private static let requests = [
    ContractRequest("getSummary", "/v1/summary", bad: "?x=1"),
    ContractRequest("getTimeline", "/v1/devices/phone/timeline", bad: "?limit=0"),
    ContractRequest("getStatement", "/v1/devices/phone/statement", bad: "?utcOffset=x"),
    ContractRequest("getWhy", "/v1/why?device=phone", bad: "&at=x"),
    ContractRequest("listDecisions", "/v1/decisions?limit=3", bad: "&order=x"),
    ContractRequest("getDecision", "/v1/decisions/d-0-1-0", bad: "?x=1", others: ["/v1/decisions/d-9-9-9": 404]),
    ContractRequest("getCommand", "/v1/commands/c-0-30-0", bad: "?limit=x", others: ["/v1/commands/c-9-9-9": 404]),
    ContractRequest("getEvent", "/v1/events/e1", bad: "?x=1"),
    ContractRequest("getTop", "/v1/top", bad: "?by=x"),
    ContractRequest("listZombies", "/v1/live-activities/zombies", bad: "?from=x"),
    ContractRequest("getHealth", "/v1/health", bad: "?x=1"),
    // A question that its own records do not change.
    ContractRequest(
      "listAccess", "/v1/access?operation=getTimeline&refused=false&limit=1000", bad: "&key=",
      others: ["/v1/access?of=gateway": 404]),
    ContractRequest("export", "/v1/export", bad: "?from=x"),
    ContractRequest("tailDecisions", "/v1/decisions/tail", bad: "?cursor=x"),
    ContractRequest(
      "checkPolicy", "/v1/policies/check", bad: "?x=1", method: "POST", body: ClusterTests.policy),
    ContractRequest(
      "explainPolicy", "/v1/policies/explain", bad: "?kind=x", method: "POST", body: ClusterTests.policy),
    // Before a policy is applied there is none to compare with.
    ContractRequest(
      "diffPolicy", "/v1/policies/diff", bad: "?x=1", method: "POST", body: ClusterTests.policy,
      others: ["/v1/policies/diff": 409]),
    ContractRequest(
      "applyPolicy", "/v1/policies/apply", bad: "?dryRun=x", method: "POST", body: ClusterTests.policy,
      others: ["/v1/policies/apply": 412], othersHeader: ("If-Match", "\"0\"")),
    ContractRequest("getObjectives", "/v1/objectives?sample=1", bad: "&to=x", others: ["/v1/objectives": 409]),
    ContractRequest("getActivePolicies", "/v1/policies/active", bad: "?x=1"),
    ContractRequest("listPolicyValues", "/v1/policies/active/values", bad: "?x=1"),
    ContractRequest("listPolicies", "/v1/policies", bad: "?x=1"),
    ContractRequest("listTopics", "/v1/topics", bad: "?x=1"),
    ContractRequest("listLag", "/v1/lag", bad: "?x=1"),
    ContractRequest("listDeadLetters", "/v1/dead-letters", bad: "?limit=0"),
    ContractRequest("getDeadLetter", "/v1/dead-letters/0/0", bad: "?x=1", others: ["/v1/dead-letters/0/99": 404]),
    ContractRequest(
      "replayDeadLetter", "/v1/dead-letters/0/0/replay", bad: "?x=1", method: "POST",
      others: ["/v1/dead-letters/0/99/replay": 404, "/v1/dead-letters/0/2/replay": 409]),
    ContractRequest(
      "replayDeadLetters", "/v1/dead-letters/replay?reason=MISSING_FIELD", bad: "&limit=0", method: "POST"),
  ]

  private static let withObjective = ClusterTests.policy.replacing(
    "    surface: widget\n",
    with: "    surface: widget\n    objective: { freshWithin: 10m, share: 0.95, wrongAtLeast: 0.3 }\n")

  private static let time = Timestamp(microseconds: 1_700_000_000_000_000)

  @Test("each operation gives each status that the document declares, and every answer is valid")
  func contract() async throws {
    let notes = try ContractNotes(tag: "console")
    @Sendable func take(_ operation: String, _ answer: TestClient.Answer?, _ status: Int) throws {
      let wrong = try notes.take(operation, try #require(answer, "\(operation) \(status)"), status)
      #expect(wrong == [])
    }
    let boss = AccessKey.make(.operator, created: Self.time)
    let auditor = AccessKey.make(.auditor, created: Self.time)
    let publisher = AccessKey.make(.publisher, created: Self.time)
    var file = KeyFile()
    file.keys = [boss.key, auditor.key, publisher.key]
    let key = ("Authorization", "Bearer \(boss.secret)")
    try await ConsoleBroker.run(keys: file) { console in
      let client = try console.client()
      for request in Self.requests {
        let (operation, path, method) = (request.operation, request.path, request.method)
        for (other, status) in request.others {
          let headers = [key, request.type] + (request.othersHeader.map { [$0] } ?? [])
          try take(operation, client.ask(method, other, headers, request.body), status)
        }
        if operation == "diffPolicy" {
          _ = try client.ask("POST", "/v1/policies/apply", [key, request.type], request.body)
        } else if operation == "getObjectives" {
          _ = try client.ask(
            "POST", "/v1/policies/apply", [key, ("Content-Type", "application/yaml")], Self.withObjective)
        }
        let forms = notes.forms(operation)
        #expect(!forms.isEmpty)
        for form in forms {
          // A tail goes on, so only its head is looked at.
          let isEndless = form == "text/event-stream"
          let asker = isEndless ? try console.client() : client
          asker.send(
            isEndless ? "HEAD" : method, path, [key, ("Accept", form), request.type], Array(request.body.utf8))
          let answer = asker.answer(isHead: isEndless)
          try take(operation, answer, 200)
          guard method == "GET", !isEndless, let answer else { continue }
          // An answer to `HEAD` that is made while it is sent ends its connection.
          let head = try console.client().ask("HEAD", path, [key, ("Accept", form)])
          #expect(answer.faults(ofHead: head) == [], "\(operation) \(form)")
        }
        try take(operation, client.ask(method, path + request.bad, [key, request.type], request.body), 400)
        try take(operation, client.ask(method, path), 401)
        if method == "GET" { #expect(try client.ask("HEAD", path + request.bad, [key]).status == 400) }
        let weak = request.isForOperators ? auditor.secret : publisher.secret
        try take(operation, client.ask(method, path, [("Authorization", "Bearer \(weak)")]), 403)
        if notes.declared.contains("\(operation) 406") {
          try take(operation, client.ask(method, path, [key, ("Accept", "image/png")]), 406)
        }
        if notes.declared.contains("\(operation) 415") {
          try take(operation, client.ask(method, path, [key, ("Content-Type", "text/plain")], request.body), 415)
        }
        let large = try console.client()
        large.send(method, path, [key, ("Content-Length", "2000000")])
        try take(operation, large.answer(), 413)
        let wide = try console.client()
        wide.send(method, path, [key, ("X-Wide", String(repeating: "x", count: 20_000))])
        try take(operation, wide.answer(), 431)
      }
      let slow = try Self.requests.map { request in
        let client = try console.client()
        client.send(request.method, request.path, [key, ("Content-Length", "10")], [0x7b])
        return client
      }
      for (request, client) in zip(Self.requests, slow) { try take(request.operation, client.answer(), 408) }
    }
    for request in Self.requests {
      // Each with a full bucket, and without a thread that could take it.
      try await RunningConsole.run(nil, keys: file, rate: 1) {
        $0.waitingMax = 0
      } _: { console in
        let client = try console.client()
        var answer = try client.ask(request.method, request.path, [key, request.type], request.body)
        try take(request.operation, answer, 503)
        while answer.status == 503 {
          answer = try client.ask(request.method, request.path, [key, request.type], request.body)
        }
        try take(request.operation, answer, 429)
      }
    }
    #expect(notes.declared.count > 150)
    #expect(notes.declared.subtracting(notes.all).sorted() == [], "declared, and never seen")
  }

  @Test("the document lists every operation of the code with its method and path")
  func document() throws {
    let declared = try ContractNotes(tag: "console").operations.map { path, method, operation in
      "\(operation["operationId"]?.text ?? "") \(method.uppercased()) \(path)"
    }
    #expect(
      declared.sorted()
        == (ConsoleRoute.questions + [ConsoleRoute.objectives] + ConsoleRoute.policies + ConsoleRoute.deadLetters
        + ConsoleRoute.surveys).map {
          "\($0.name) \($0.method) /\($0.steps.joined(separator: "/"))"
        }.sorted())
  }

  @Test("the document lists every reason, verdict and surface, and the length of the longest id")
  func values() throws {
    let schemas = try #require(try SchemaCheck.openAPI().document["components"]?["schemas"])
    func values(_ name: String) -> [String] { schemas[name]?["enum"]?.elements.compactMap(\.text) ?? [] }
    #expect(values("Reason") == Reason.allCases.map(\.rawValue))
    #expect(values("LetterReason") == DeadLetterQueue.reasons)
    #expect(values("Verdict") == Verdict.allCases.map(\.rawValue))
    #expect(values("Surface") == Surface.allCases.map(\.rawValue))
    #expect(schemas["Name"]?["maxLength"] == .number(Double(DomainBounds.plannedDeviceBytesMax)))
  }
}
