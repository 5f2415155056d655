import Auditing
import Domain
import Foundation
import HTTPTesting
import JSON
import Keys
import Logging
import Observing
import Serving
import Testing

@testable import Console

/// The tokens of an issuer whose keys are in a file.
private final class ConsoleTokens: Sendable {
  let issuer: TestIssuer
  let verifier: TokenVerifier
  private let path: String

  init() throws {
    issuer = try TestIssuer()
    path = FileManager.default.temporaryDirectory.appending(path: "issuer-\(UUID().uuidString).json").path
    try Data(TestIssuer.keySet(issuer).utf8).write(to: URL(filePath: path))
    let metrics = TokenMetrics(MetricRegistry())
    let keys = IssuerKeys(.file(path), metrics: metrics, logger: RunningConsole.silent)
    verifier = try TokenVerifier(
      TokenSettings(issuer: TestIssuer.name, audience: TestIssuer.audience), keys: keys, metrics: metrics,
      logger: RunningConsole.silent)
    refresh()
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func refresh() { verifier.refresh(at: .now, wallClock: PageSample.start) }

  /// Withdraws the key of the issuer.
  func withdraw() throws {
    try Data(TestIssuer.keySet(TestIssuer(keyID: "next")).utf8).write(to: URL(filePath: path), options: .atomic)
    refresh()
  }

  func token(_ subject: String, _ roles: String..., expires: Int) throws -> String {
    try issuer.token(TestIssuer.claims(subject, roles: roles, expires: expires))
  }

  /// The header with a token that expires in an hour of the wall clock.
  func header(_ subject: String, _ role: String) throws -> (String, String) {
    ("Authorization", "Bearer \(try token(subject, role, expires: Int(Date().timeIntervalSince1970) + 3600))")
  }
}

@Suite("Tokens at the console") struct ConsoleTokenTests {
  private static let start = PageSample.start
  private static let seconds = Int(start.seconds)

  @Test("a session that a token has opened ends when the token expires, and when its key is withdrawn")
  func session() throws {
    let tokens = try ConsoleTokens()
    let sessions = ConsoleSessions(Authenticator(keys: nil, tokens: tokens.verifier))
    func find(_ cookie: String, _ at: Timestamp) -> Principal? {
      sessions.find(cookies: "rouse-session=\(cookie)", now: at)?.principal
    }
    let token = try tokens.token("anna", "operator", expires: Self.seconds + 1800)
    let cookie = try sessions.open(secret: token, now: Self.start)
    let end = Self.start + .seconds(1860)
    #expect(find(cookie, end - .seconds(1))?.name == "anna" && find(cookie, end) == nil)
    #expect(find(cookie, Self.start) == nil, "a session that has ended does not come back")
    let second = try sessions.open(secret: token, now: Self.start)
    #expect(find(second, Self.start)?.roles == [.operator])
    try tokens.withdraw()
    #expect(find(second, Self.start) == nil)
  }

  @Test("the sign-in refuses a token that fails a check, or gives no role of the pages")
  func signIn() throws {
    let tokens = try ConsoleTokens()
    let sessions = ConsoleSessions(Authenticator(keys: nil, tokens: tokens.verifier))
    for (token, cause, kind) in [
      (try tokens.token("anna", "auditor", expires: Self.seconds - 61), .refusedToken, .unauthorized),
      (try tokens.token("bob", "guest", expires: Self.seconds + 60), .missingRole, .forbidden),
      ("a.b.c", .refusedToken, .unauthorized), ("rouse_0", .unknownKey, .unauthorized),
    ] as [(String, RefusalCause, Problem.Kind)] {
      let refusal = #expect(throws: SignInRefusal.self) { try sessions.open(secret: token, now: Self.start) }
      #expect(refusal?.cause == cause && refusal?.problem.kind == kind)
      #expect(refusal?.problem.detail.contains(token) == false)
    }
    let sample = try PageSample(nil, access: Authenticator(keys: nil, tokens: tokens.verifier))
    let outside = Viewer(key: nil, roles: [])
    let token = try tokens.token("anna", "auditor", expires: Self.seconds + 60)
    let answer = try sample.page("/sign-in", method: "POST", body: "key=\(token)&next=%2F", viewer: outside)
    #expect(answer.status == 303 && answer.headers.contains { $0.name == "set-cookie" })
    let page = String(decoding: try sample.page("/sign-in", viewer: outside).body, as: UTF8.self)
    #expect(page.contains("Your token") && PageCheck(page).mistakes.isEmpty)
  }

  @Test("a bearer token works for pages and for questions, an auditor's applies nothing, and records name the subject")
  func bearer() async throws {
    let tokens = try ConsoleTokens()
    try await RunningConsole.run(tokens: tokens.verifier) { console in
      let auditor = try tokens.header("anna@example.com", "auditor")
      let html = ("Accept", "text/html")
      #expect(try console.ask("/", [auditor, html]).status == 200)
      #expect(try console.ask("/v1/summary", [auditor]).status == 200)
      #expect(try console.ask("/v1/devices/phone/timeline", [auditor]).status == 200)
      let apply = try console.client().ask(
        "POST", "/v1/policies/apply", [auditor, ClusterTests.yaml], ClusterTests.policy)
      #expect(apply.status == 403 && apply.text.contains("a token with the role operator, this one has auditor"))
      let nobody = try tokens.header("eve", "guest")
      #expect(try console.ask("/v1/summary", [nobody]).status == 403)
      let wrong = (auditor.0, auditor.1.replacing("Bearer e", with: "Bearer f"))
      #expect(try console.ask("/v1/summary", [wrong]).status == 401)
      let records = try AccessStore.openToRead(path: AccessStore.path(besides: console.storePath)).newest(limit: 10)
      let look = try #require(records.first { $0.operation == "getTimeline" })
      #expect(look.key == "anna@example.com" && look.refused == nil)
    }
  }

  @Test("an operator's token applies a policy, which says who applied it")
  func applies() async throws {
    let tokens = try ConsoleTokens()
    try await ConsoleBroker.run(tokens: tokens.verifier) { console in
      let boss = try tokens.header("boss@example.com", "operator")
      let client = try console.client()
      let applied = try client.ask("POST", "/v1/policies/apply", [boss, ClusterTests.yaml], ClusterTests.policy)
      #expect(applied.status == 200, "\(applied.text)")
      let active = try client.ask("GET", "/v1/policies/active", [boss]).json
      #expect(active["policies"]?[0]?["appliedBy"] == .string("boss@example.com"))
    }
  }
}
