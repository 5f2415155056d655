import Domain
import Foundation
import HTTPTesting
import JSON
import Keys
import Observing
import Serving
import Testing

@testable import Gateway

/// The tokens of an issuer for the tests of the gateway, on the wall clock.
struct GatewayTokens {
  let issuer: TestIssuer
  let verifier: TokenVerifier

  /// Makes the tokens.
  ///
  /// - Parameter grants: The content of the file of grants.
  init(grants: String) throws {
    issuer = try TestIssuer()
    let folder = FileManager.default.temporaryDirectory.appending(path: "issuer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (keySet, file) = (folder.appending(path: "keys.json"), folder.appending(path: "grants.json"))
    try Data(TestIssuer.keySet(issuer).utf8).write(to: keySet)
    try Data(grants.utf8).write(to: file)
    let metrics = TokenMetrics(MetricRegistry())
    let keys = IssuerKeys(.file(keySet.path), metrics: metrics, logger: RunningGateway.silent)
    verifier = try TokenVerifier(
      TokenSettings(issuer: TestIssuer.name, audience: TestIssuer.audience), keys: keys, grantsPath: file.path,
      metrics: metrics, logger: RunningGateway.silent)
    verifier.refresh(at: .now, wallClock: Timestamp(microseconds: 0))
  }

  /// The header with a token that expires in an hour.
  func header(_ subject: String, _ roles: String..., expires seconds: Int = 3600) throws -> (String, String) {
    let claims = TestIssuer.claims(subject, roles: roles, expires: Int(Date().timeIntervalSince1970) + seconds)
    return ("Authorization", "Bearer \(try issuer.token(claims))")
  }
}

@Suite("Tokens at the gateway") struct GatewayTokenTests {
  private static let grants = """
    {"grants":[{"value":"feed","role":"publisher","sources":["/flights"],"types":["flight.delay.changed"]},
    {"value":"gates","role":"publisher","sources":["/gates/"]},
    {"value":"backend","role":"registrar","apps":["com.example.glance"]},{"value":"staff","role":"auditor"}]}
    """

  @Test("a token sends what its roles allow, and what it must not send is refused with the reason")
  func roles() async throws {
    let tokens = try GatewayTokens(grants: Self.grants)
    try await RunningGateway.run(tokens: tokens.verifier) { gateway, _ in
      let client = try gateway.client()
      let feed = try tokens.header("airline", "feed")
      #expect(try client.ask("POST", "/v1/events", [feed, structured], eventJSON("1")).status == 202)
      let source = try client.ask("POST", "/v1/events", [feed, structured], eventJSON("2", source: "/gates/7"))
      #expect(source.status == 403)
      let mistake = try JSONValue(parsing: source.text)["errors"]?[0]
      #expect(mistake?["pointer"]?.text == "/source")
      #expect(mistake?["detail"]?.text == "expected a source of the token, found \"/gates/7\"")
      // The type of one grant does not go with the source of another.
      let both = try tokens.header("airport", "feed", "gates")
      #expect(
        try client.ask("POST", "/v1/events", [both, structured], eventJSON("3", source: "/gates/7", type: "x")).status
          == 202)
      let mixed = try client.ask(
        "POST", "/v1/events", [both, batched], "[\(eventJSON("4", type: "x")),\(eventJSON("5"))]")
      #expect(mixed.status == 403 && mixed.text.contains("expected a type of the token"))
      let device = try tokens.header("app-backend", "backend")
      #expect(try client.ask("PUT", "/v1/devices/d-1", [device, json], registrationJSON("d-1")).status == 202)
      let other = registrationJSON("d-1", app: "com.example.other")
      #expect(try client.ask("PUT", "/v1/devices/d-1", [device, json], other).status == 403)
      #expect(
        try client.ask("POST", "/v1/devices/d-1/signals", [device, structured], signalJSON("s", device: "d-1")).status
          == 202)
      for (name, header) in [
        ("staff", try tokens.header("anna", "staff")), ("none", try tokens.header("bob")), ("registrar", device),
      ] {
        let answer = try client.ask("POST", "/v1/events", [header, structured], eventJSON("6"))
        #expect(answer.status == 403 && answer.text.contains("a token with the role publisher"), "\(name)")
      }
      #expect(try gateway.records("events", count: 2).count == 2)
    }
  }

  @Test("a token that fails a check gets 401 with the check, and its text is nowhere in the answer")
  func refused() async throws {
    let tokens = try GatewayTokens(grants: Self.grants)
    try await RunningGateway.run(tokens: tokens.verifier) { gateway, _ in
      let client = try gateway.client()
      let expired = try tokens.header("airline", "feed", expires: -120)
      let answer = try client.ask("POST", "/v1/events", [expired, structured], eventJSON("1"))
      #expect(answer.status == 401 && answer.headers["content-type"] == "application/problem+json")
      #expect(answer.headers["www-authenticate"] == #"Bearer realm="rouse", error="invalid_token""#)
      let problem = try JSONValue(parsing: answer.text)
      #expect(problem["detail"]?.text == "the token has expired (exp); ask the issuer for a new one")
      let parts = expired.1.dropFirst(7).split(separator: ".")
      #expect(parts.count == 3 && parts.allSatisfy { !answer.text.contains($0) })
      let long = ("Authorization", "Bearer a.b.\(String(repeating: "c", count: 8192))")
      let refusal = try client.ask("POST", "/v1/events", [long, structured], eventJSON("1"))
      #expect([401, 431].contains(refusal.status))
      #expect(try client.ask("POST", "/v1/events", [structured], eventJSON("1")).status == 401)
    }
  }

  @Test("a subject has one rate for all of its tokens")
  func rate() async throws {
    let tokens = try GatewayTokens(grants: Self.grants)
    try await RunningGateway.run(rate: 1, tokens: tokens.verifier) { gateway, _ in
      let client = try gateway.client()
      func status(_ subject: String, _ seconds: Int) throws -> Int {
        let header = try tokens.header(subject, "feed", expires: seconds)
        let events = (0..<9).map { eventJSON("\(subject)-\($0)") }.joined(separator: ",")
        return try client.ask("POST", "/v1/events", [header, batched], "[\(events)]").status
      }
      #expect(try [status("a", 3600), status("a", 3601), status("b", 3602)] == [202, 429, 202])
    }
  }
}
