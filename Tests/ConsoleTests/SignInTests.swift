import Domain
import Foundation
import HTTPTesting
import Keys
import Logging
import Observing
import Serving
import Testing

@testable import Console

@Suite("Sign-in") struct SignInTests {
  private static let start = PageSample.start

  /// A key file with one key of each role, and their secrets.
  private static func access(expires: Timestamp? = nil) throws -> (
    access: Authenticator, file: KeyFile, secrets: [KeyRole: String], path: String
  ) {
    var (file, secrets) = (KeyFile(), [KeyRole: String]())
    for role in KeyRole.allCases {
      let (key, secret) = AccessKey.make(role, created: start, expires: expires)
      file.keys.append(key)
      secrets[role] = secret
    }
    let path = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString).json").path
    try file.write(to: path)
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return (Authenticator(keys: try KeyRing(path: path, recordsPerSecond: nil, logger: silent)), file, secrets, path)
  }

  @Test("a key of an auditor or operator opens a session; any other is refused")
  func roles() throws {
    let (access, _, secrets, path) = try Self.access()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let sessions = ConsoleSessions(access)
    for role in [KeyRole.auditor, .operator] {
      let cookie = try sessions.open(secret: try #require(secrets[role]), now: Self.start)
      #expect(sessions.find(cookies: "a=b; rouse-session=\(cookie)", now: Self.start)?.principal.roles == [role])
    }
    for role in [KeyRole.publisher, .registrar] {
      let refusal = #expect(throws: SignInRefusal.self) {
        try sessions.open(secret: secrets[role] ?? "", now: Self.start)
      }
      #expect(refusal?.problem.kind == .forbidden)
    }
    let refusal = #expect(throws: SignInRefusal.self) { try sessions.open(secret: "rouse_none", now: Self.start) }
    #expect(refusal?.problem.kind == .unauthorized)
  }

  @Test("a session ends when it is idle or old, when its key expires or is revoked, and when somebody signs out")
  func ends() throws {
    let expires = Self.start + .hours(3)
    var (access, file, secrets, path) = try Self.access(expires: expires)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let sessions = ConsoleSessions(access)
    let secret = try #require(secrets[.auditor])
    func isOpen(_ cookie: String, _ at: Timestamp) -> Bool {
      sessions.find(cookies: "rouse-session=\(cookie)", now: at) != nil
    }
    let idle = try sessions.open(secret: secret, now: Self.start)
    #expect(isOpen(idle, Self.start + .minutes(59)) && isOpen(idle, Self.start + .minutes(118)))
    #expect(!isOpen(idle, Self.start + .minutes(178)) && !isOpen(idle, Self.start + .minutes(118)))
    let late = try sessions.open(secret: secret, now: expires - .minutes(1))
    #expect(isOpen(late, expires - .seconds(1)) && !isOpen(late, expires))
    let left = try sessions.open(secret: secret, now: Self.start)
    sessions.close(cookies: "rouse-session=\(left)")
    #expect(!isOpen(left, Self.start))
    let revoked = try sessions.open(secret: secret, now: Self.start)
    for place in file.keys.indices { file.keys[place].revoked = Self.start }
    try file.write(to: path)
    access.refresh()
    #expect(!isOpen(revoked, Self.start))
    #expect(!isOpen("", Self.start) && sessions.find(cookies: nil, now: Self.start) == nil)
  }

  @Test("there is a most of sessions, and the one that was used least recently gives way")
  func bound() throws {
    let (access, _, secrets, path) = try Self.access()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let sessions = ConsoleSessions(access)
    let secret = try #require(secrets[.auditor])
    let cookies = try (0...ConsoleSessions.sessionsMax).map {
      try sessions.open(secret: secret, now: Self.start + .seconds(Int64($0)))
    }
    let end = Self.start + .minutes(20)
    #expect(Set(cookies).count == cookies.count)
    #expect(sessions.find(cookies: "rouse-session=\(cookies[0])", now: end) == nil)
    #expect(sessions.find(cookies: "rouse-session=\(cookies[1])", now: end) != nil)
  }

  @Test("the cookie is for this site and for no script; the browser is sent where it wanted to go")
  func cookie() throws {
    let (access, _, secrets, path) = try Self.access()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let sample = try PageSample(nil, access: access)
    let outside = Viewer(key: nil, roles: [])
    let answer = try sample.page(
      "/sign-in", method: "POST", body: "key=\(secrets[.operator] ?? "")&next=%2Fwhy%3Fdevice%3Da", viewer: outside)
    #expect(answer.status == 303 && answer.headers.contains { $0.name == "location" && $0.value == "/why?device=a" })
    let cookie = answer.headers.first { $0.name == "set-cookie" }?.value ?? ""
    #expect(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Lax") && cookie.contains("; Path=/;"))
    #expect(ConsoleSessions.setCookie("x", isSecure: true).value.hasSuffix("; Secure"))
    let failed = try sample.page("/sign-in", method: "POST", body: "key=wrong&next=//evil.example", viewer: outside)
    #expect(failed.status == 401 && String(decoding: failed.body, as: UTF8.self).contains("value=\"/\""))
    #expect(PageCheck(String(decoding: failed.body, as: UTF8.self)).mistakes.isEmpty)
    #expect(try ConsoleRoute.find(method: "POST", path: "/sign-in").route.slowsRefusals)
  }

  @Test("a browser without a session is sent to sign in, a program is told what to send")
  func redirected() throws {
    let sessions = ConsoleSessions(try Self.access().access)
    let problem = Problem(.unauthorized, "no key")
    let page = ProblemPage.answer(to: problem, HTTPHead("/why?device=a"), sessions)
    #expect(
      page.status == 303
        && page.headers.contains { $0.name == "location" && $0.value == "/sign-in?next=%2Fwhy%3Fdevice%3Da" })
    #expect(
      ProblemPage.answer(to: problem, HTTPHead("/v1/summary"), sessions).contentType == "application/problem+json")
    // A sign-in in place of a form would lose what was typed into it.
    let sent = ProblemPage.answer(to: problem, HTTPHead("/policy", method: "POST"), sessions)
    let words = String(decoding: sent.body, as: UTF8.self)
    #expect(sent.status == 401 && words.contains("what you typed is not lost") && words.contains("href=\"/sign-in\""))
    #expect(PageCheck(words).mistakes.isEmpty)
    let replay = ProblemPage.answer(to: problem, HTTPHead("/dead-letters", method: "POST"), sessions)
    #expect(replay.status == 303, "nothing was typed into it")
    let missing = ProblemPage.answer(to: Problem(.notFound, "there is no such path"), HTTPHead("/<b>"), sessions)
    #expect(missing.status == 404 && PageCheck(String(decoding: missing.body, as: UTF8.self)).mistakes.isEmpty)
  }

  @Test("a form without the token of the session changes nothing")
  func token() throws {
    let route = try ConsoleRoute.find(method: "POST", path: "/dead-letters").route
    func request(_ body: String, _ viewer: Viewer) throws -> ConsoleRequest {
      ConsoleRequest(
        head: HTTPHead("/dead-letters", method: "POST"), places: [:], query: try RequestQuery(nil),
        body: Array(body.utf8),
        viewer: viewer)
    }
    var viewer = Viewer.anybody
    viewer.formToken = "secret"
    for body in ["", "token=", "token=other"] {
      let problem = #expect(throws: Problem.self) { try RequestOrigin.checkToken(request(body, viewer), of: route) }
      #expect(problem?.kind == .staleForm)
    }
    #expect(throws: Never.self) { try RequestOrigin.checkToken(request("token=secret", viewer), of: route) }
    // A program has no session; its key is its proof.
    #expect(throws: Never.self) {
      try RequestOrigin.checkToken(request("", Viewer(key: "k", roles: [.operator])), of: route)
    }
  }

  @Test("a form of a page that is out of date gives back what was typed into it, and no button of a change")
  func staleForm() async throws {
    try await RunningConsole.run { console in
      for (path, body) in [
        ("/policy", "policy=version%3A+%3Cb%3Emine"), ("/policy/apply", "policy=version%3A+%3Cb%3Emine"),
        ("/try", "event=version%3A+%3Cb%3Emine&policy=x"),
      ] {
        let answer = try console.client().ask(
          "POST", path, [("Accept", "text/html"), ("Content-Type", "application/x-www-form-urlencoded")],
          body + "&token=old")
        #expect(answer.status == 403 && answer.text.contains("The page is out of date"), "\(path)")
        #expect(answer.text.contains("version: &lt;b&gt;mine") && !answer.text.contains("action=\"/policy/apply\""))
        #expect(answer.text.contains("name=\"token\" value=\"") && !answer.text.contains("value=\"old\""))
      }
    }
  }

  @Test("a link of another site can open a page only: no GET changes anything, and every change needs a token")
  func links() throws {
    // Operators alone change anything. They alone also read who asked what.
    let operators = ConsoleRoute.all.filter { $0.method == "GET" && $0.role == .operator }
    #expect(operators.map(\.name) == ["listAccess", "accessPage"])
    var viewer = Viewer.anybody
    (viewer.formToken, viewer.isSignedIn) = ("secret", true)
    let changes = ConsoleRoute.all.filter { $0.method != "GET" && $0.role != nil }
    #expect(changes.count > 5)
    for route in changes {
      let path = "/" + route.steps.joined(separator: "/")
      let request = ConsoleRequest(
        head: HTTPHead(path, method: route.method), places: [:], query: try RequestQuery(nil), body: [], viewer: viewer)
      let problem = #expect(throws: Problem.self) { try RequestOrigin.checkToken(request, of: route) }
      #expect(problem?.kind == .staleForm, "\(route.name)")
    }
    // A person who signs in has no token yet; the origin of another site is refused.
    #expect(ConsoleRoute.all.filter { $0.method != "GET" && $0.role == nil }.map(\.name) == ["signIn"])
  }

  @Test("a page of another site can neither send a form nor borrow the address of an open console")
  func origins() throws {
    func check(_ method: String, _ headers: [(String, String)], isOpen: Bool) -> Bool {
      var head = HTTPHead("/policy", method: method, headers)
      if let host = headers.first(where: { $0.0 == "host" })?.1 { head = HTTPHead(host: host, method: method, headers) }
      do throws(Problem) {
        try RequestOrigin.check(head, isOpen: isOpen)
        return true
      } catch { return false }
    }
    #expect(check("POST", [("origin", "http://127.0.0.1:8090")], isOpen: true) && check("POST", [], isOpen: true))
    #expect(!check("POST", [("origin", "http://evil.example")], isOpen: true))
    #expect(!check("POST", [("origin", "null")], isOpen: false))
    #expect(check("GET", [("origin", "http://evil.example")], isOpen: false))
    // A proxy that calls the console by its own name.
    func proxied(_ site: String?, isOpen: Bool = false, host: String = "127.0.0.1:8090") -> Bool {
      let fetched = site.map { [("sec-fetch-site", $0)] } ?? []
      return check("POST", [("origin", "https://rouse.example"), ("host", host)] + fetched, isOpen: isOpen)
    }
    #expect(proxied("same-origin") && proxied("same-origin", isOpen: true))
    for site in [nil, "same-site", "cross-site", "none", ""] { #expect(!proxied(site), "\(site ?? "")") }
    #expect(!proxied("same-origin", isOpen: true, host: "evil.example:8090"), "a name that another site has borrowed")
    #expect(!check("GET", [("host", "evil.example:8090")], isOpen: true))
    #expect(check("GET", [("host", "[::1]:8090")], isOpen: true) && check("GET", [("host", "localhost")], isOpen: true))
    #expect(check("GET", [("host", "rouse.example")], isOpen: false))
  }
}
