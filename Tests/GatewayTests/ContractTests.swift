import Domain
import Foundation
import HTTPTesting
import JSON
import Keys
import Serving
import Synchronization
import Testing

@testable import Gateway

/// The server does what `schemas/openapi.yaml` says, and nothing else.
@Suite("Contract of the gateway") struct ContractTests {
  /// The answers that a test has seen, by operation and status.
  private final class Notes: Sendable {
    let contract: ContractNotes

    init() throws { contract = try ContractNotes(tag: "gateway") }

    /// Validates an answer.
    func take(_ operation: String, _ answer: TestClient.Answer, _ expected: Int) throws {
      let wrong = try contract.take(operation, answer, expected)
      #expect(wrong == [])
      // The schema of registrations is a file of its own.
      if operation == "getDevice", expected == 200 {
        let record = CloudEventRecord(key: Array("d-1".utf8), value: answer.body, timestamp: ContractTests.time)
        let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        _ = try PublicRecordDecoder().decode(record, from: .devices, now: now)
      }
    }
  }

  /// The operations with a request that is accepted.
  private static let requests:
    [(operation: String, method: String, path: String, type: (String, String), body: String)] =
      [
        ("publishEvents", "POST", "/v1/events", structured, eventJSON("1")),
        ("getDevice", "GET", "/v1/devices/d-1", json, ""),
        ("putDevice", "PUT", "/v1/devices/d-1", json, registrationJSON("d-1")),
        ("deleteDevice", "DELETE", "/v1/devices/d-1", json, ""),
        ("publishSignals", "POST", "/v1/devices/d-1/signals", structured, signalJSON("1", device: "d-1")),
      ]

  private static let time = Timestamp(microseconds: 1_700_000_000_000_000)

  @Test("each operation gives each status that the document declares, and every answer is valid")
  func contract() async throws {
    let notes = try Notes()
    var file = KeyFile()
    let publisher = AccessKey.make(.publisher, sources: ["/flights"], created: Self.time)
    let registrar = AccessKey.make(.registrar, apps: ["com.example.glance"], created: Self.time)
    let expired = AccessKey.make(.publisher, created: Self.time, expires: Self.time)
    file.keys = [publisher.key, registrar.key, expired.key]
    func secret(_ operation: String) -> String { operation == "publishEvents" ? publisher.secret : registrar.secret }
    let secrets = Dictionary(uniqueKeysWithValues: Self.requests.map { ($0.operation, secret($0.operation)) })
    let others = Dictionary(
      uniqueKeysWithValues: Self.requests.map {
        ($0.operation, $0.operation == "publishEvents" ? registrar.secret : publisher.secret)
      })
    try await RunningGateway.run(keys: file, devices: KnownDevices(["d-1": registrationJSON("d-1")])) {
      $0.limits.requestSeconds = 1
    } _: { gateway, _ in
      let client = try gateway.client()
      for (operation, method, path, type, body) in Self.requests {
        let key = ("Authorization", "Bearer \(try #require(secrets[operation]))")
        /// Asks, and with `HEAD` the same as with `GET`.
        func take(_ status: Int, _ path: String, _ headers: [(String, String)], _ body: String) throws {
          let answer = try client.ask(method, path, headers, body)
          try notes.take(operation, answer, status)
          guard method == "GET" else { return }
          #expect(answer.faults(ofHead: try client.ask("HEAD", path, headers)) == [], "\(operation) \(status)")
        }
        try take(method == "GET" ? 200 : 202, path, [key, type], body)
        let bad = ["DELETE": "/v1/devices/channel%2Fx", "GET": "/v1/devices/%ff"][method] ?? path
        try take(400, bad, [key, type], method == "GET" ? "" : "{}")
        try take(401, path, [type], body)
        try notes.take(operation, client.ask(method, path, [("Authorization", "Bearer \(expired.secret)x")], body), 401)
        let other = ("Authorization", "Bearer \(try #require(others[operation]))")
        try take(403, path, [other, type], body)
        switch operation {
        case "getDevice":
          try take(304, path, [key, ("If-None-Match", "*")], "")
          try take(404, "/v1/devices/d-2", [key], "")
        case "putDevice", "deleteDevice":
          try take(412, path, [key, type, ("If-Match", "\"0\"")], body)
          if method == "PUT" { try take(412, path, [key, type, ("If-None-Match", "*")], body) }
        default: break
        }
        if method != "DELETE", method != "GET" {
          try notes.take(operation, client.ask(method, path, [key, ("Content-Type", "text/plain")], body), 415)
        }
        let large = try gateway.client()
        large.send(method, path, [key, type, ("Content-Length", "2000000")])
        try notes.take(operation, try #require(large.answer()), 413)
        let wide = try gateway.client()
        wide.send(method, path, [key, type, ("X-Wide", String(repeating: "x", count: 20_000))])
        try notes.take("\(operation)", try #require(wide.answer()), 431)
      }
      let slow = try Self.requests.map { request in
        let client = try gateway.client()
        let key = ("Authorization", "Bearer \(try #require(secrets[request.operation]))")
        client.send(request.method, request.path, [key, request.type, ("Content-Length", "10")], [0x7b])
        return client
      }
      for (request, client) in zip(Self.requests, slow) {
        try notes.take(request.operation, try #require(client.answer()), 408)
        #expect(client.isClosed)
      }
      try notes.take(
        "publishEvents",
        client.ask("POST", "/v1/events", [("Authorization", "Bearer \(expired.secret)"), structured], eventJSON("1")),
        401)
    }
    for request in Self.requests {
      // Each with a full bucket.
      let filling = KnownDevices([:], ageSeconds: nil)
      try await RunningGateway.run(keys: file, rate: 1, devices: filling, runsProducer: false) { gateway, _ in
        let client = try gateway.client()
        let key = ("Authorization", "Bearer \(try #require(secrets[request.operation]))")
        try notes.take(
          request.operation, client.ask(request.method, request.path, [key, request.type], request.body), 503)
        // A batch leaves a debt of minutes, whatever the speed of the machine is.
        let isEvents = request.operation == "publishEvents"
        let batch = (0..<500).map { isEvents ? eventJSON("\($0)") : signalJSON("\($0)", device: "d-1") }
        _ = try client.ask(
          "POST", isEvents ? "/v1/events" : "/v1/devices/d-1/signals", [key, batched],
          "[\(batch.joined(separator: ","))]")
        try notes.take(
          request.operation, client.ask(request.method, request.path, [key, request.type], request.body), 429)
      }
    }
    #expect(notes.contract.declared.count > 30)
    #expect(notes.contract.declared.subtracting(notes.contract.all).sorted() == [], "declared, and never seen")
  }

  @Test("the document lists the sorts of problems, and every operation of the code")
  func document() throws {
    let check = try SchemaCheck.openAPI()
    let schemas = try #require(check.document["components"]?["schemas"])
    let types = schemas["Problem"]?["properties"]?["type"]?["enum"]?.elements.compactMap(\.text)
    #expect(types == Problem.Kind.allCases.map { Problem.typePrefix + $0.rawValue })
    let operations = try ContractNotes(tag: "gateway").operations.compactMap { $0.operation["operationId"]?.text }
    #expect(operations.sorted() == GatewayOperation.allCases.map(\.rawValue).sorted())
    for kind in Problem.Kind.allCases {
      var problem = Problem(kind, "words")
      problem.mistakes = [.init(index: 1, pointer: "/1", header: "ce-id", code: "X", detail: "words")]
      let body = try JSONValue(parsing: String(decoding: problem.answer.body, as: UTF8.self))
      #expect(check.errors(of: body, try #require(schemas["Problem"])) == [])
    }
    #expect(
      !check.errors(of: .object([(key: "type", value: .string("x"))]), try #require(schemas["Problem"])).isEmpty)
  }

  @Test("another path is answered with 404, another method with 405 and what is allowed, both as problems")
  func elsewhere() async throws {
    try await RunningGateway.run(runsProducer: false) { gateway, _ in
      let schema = try #require(try SchemaCheck.openAPI().document["components"]?["schemas"]?["Problem"])
      let client = try gateway.client()
      for (method, path, status, allow) in [
        ("GET", "/", 404, nil), ("POST", "/v1/events/", 404, nil), ("PUT", "/v1/devices/", 404, nil),
        ("GET", "/v1/events", 405, "POST"), ("GET", "/v1/devices/d", 404, nil),
        ("POST", "/v1/devices/d", 405, "DELETE, GET, HEAD, PUT"),
        ("OPTIONS", "/v1/devices/d", 405, "DELETE, GET, HEAD, PUT"), ("OPTIONS", "/v1/events", 405, "POST"),
        ("PATCH", "/v1/devices/d/signals", 405, "POST"), ("POST", "/v1/devices/d/signals/x", 404, nil),
      ] as [(String, String, Int, String?)] {
        let answer = try client.ask(method, path)
        #expect(answer.status == status, "\(method) \(path)")
        #expect(answer.headers["allow"] == allow, "\(method) \(path)")
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(try SchemaCheck.openAPI().errors(of: JSONValue(parsing: answer.text), schema) == [])
      }
      client.send("HEAD", "/v1/events")
      #expect(client.answer(isHead: true)?.status == 405)
      #expect(try client.ask("GET", "/x").status == 404, "the connection goes on after an answer without a body")
    }
  }
}
