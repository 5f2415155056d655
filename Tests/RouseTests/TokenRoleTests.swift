import Domain
import Foundation
import HTTPTesting
import JSON
import KafkaClient
import Keys
import Testing

@testable import rouse

@Suite("Settings of tokens, and rouse run with them") struct TokenRoleTests {
  private func source(_ assignments: [String]) throws -> TokenSource? {
    try Settings(assignments: ["roles=gateway"] + assignments, environment: [:], file: nil).tokens()
  }

  private func refusal(_ assignments: String...) -> String {
    do {
      _ = try source(assignments)
      return "none"
    } catch {
      return "\(error)"
    }
  }

  private static let issuer = ["oidc.issuer=https://i.example", "oidc.audience=rouse"]

  @Test("an issuer needs an audience and one place of its keys, and nothing is set without it")
  func settings() throws {
    #expect(try source([]) == nil)
    let plain = try #require(try source(Self.issuer + ["oidc.keysFile=keys.json"]))
    #expect(plain.settings == TokenSettings(issuer: "https://i.example", audience: "rouse") && plain.grantsPath == nil)
    #expect(plain.keys == .file("keys.json") && plain.settings.rolesClaim == "roles")
    #expect(plain.settings.clockSkew == .seconds(60))
    let full = try #require(
      try source(
        Self.issuer + [
          "oidc.keysUrl=https://i.example/keys", "oidc.rolesClaim=a.b", "oidc.grantsFile=g", "oidc.clockSkewSeconds=5",
        ]))
    #expect(full.settings.rolesClaim == "a.b" && full.settings.clockSkew == .seconds(5) && full.grantsPath == "g")
    #expect(full.keys == .address(try #require(URL(string: "https://i.example/keys"))))
    // Another role of the same settings file takes no tokens, and refuses the same mistakes.
    let other = try Settings(
      assignments: ["roles=planner", "oidc.keysFile=k"] + Self.issuer, environment: [:], file: nil)
    #expect(try other.tokens() == nil)
    for key in ["oidc.audience", "oidc.keysFile", "oidc.keysUrl", "oidc.grantsFile"] {
      #expect(refusal("\(key)=a").contains("\(key) is set, so name the issuer"), "\(key)")
    }
    #expect(refusal("oidc.issuer=i", "oidc.keysFile=k").contains("oidc.audience: name the audience"))
    #expect(refusal("oidc.issuer=i", "oidc.audience=a").contains("name the address of the issuer's keys"))
    #expect(
      refusal("oidc.issuer=i", "oidc.audience=a", "oidc.keysFile=k", "oidc.keysUrl=https://i").contains("remove one"))
  }

  @Test(
    "the keys of the issuer come by TLS, or from this host",
    arguments: [
      ("http://i.example/keys", "is asked without TLS"), ("http://10.0.0.1/keys", "is asked without TLS"),
      ("file:///etc/passwd", "expected an address"), ("keys", "expected an address"),
      ("https://user:word@i.example/", "an address with an @ is refused"), ("http://127.0.0.1:80/keys", "none"),
      ("http://localhost/keys", "none"), ("http://[::1]:80/keys", "none"), ("https://i.example/keys?a=b", "none"),
    ])
  func address(text: String, words: String) {
    let found = refusal("oidc.issuer=i", "oidc.audience=a", "oidc.keysUrl=\(text)")
    #expect(found.contains(words) && !found.contains("word@"), "\(found)")
  }

  @Test("tokens let a gateway and a console listen for other hosts, as keys do")
  func listening() throws {
    for role in ["gateway", "console"] {
      let settings = try Settings(
        assignments: ["roles=\(role)", "\(role).listen=0.0.0.0:80", "oidc.keysFile=k"] + Self.issuer, environment: [:],
        file: nil)
      let pipeline = try settings.pipeline()
      #expect(try settings.gateway(pipeline) != nil || settings.console(pipeline) != nil)
    }
  }

  private static func run(_ broker: borrowing EmbeddedBroker, _ place: Workplace, _ settings: [String]) throws
    -> RunningRouse
  {
    let listeners = [
      "roles=gateway", "gateway.listen=127.0.0.1:0", "oidc.issuer=\(TestIssuer.name)", "oidc.audience=rouse",
    ]
    return try RunningRouse(
      ["--bootstrap", broker.bootstrapServers] + (listeners + settings).flatMap { ["--set", $0] }, in: place)
  }

  private static func status(_ run: RunningRouse, _ token: String) throws -> Int {
    let gateway = try soon("the gateway") {
      try run.words.firstMatch(of: #/http://[0-9.:]+(?=[^\n]*the gateway listens)/#).map { String($0.0) }
    }
    let answer = try Tool.curl([
      "\(gateway)/v1/events", "-d", #"{"specversion":"1.0","id":"e","source":"/s","type":"t","subject":"a"}"#, "-H",
      "Content-Type: application/cloudevents+json", "-H", "Authorization: Bearer \(token)", "-w", "%{http_code}",
    ])
    return Int(answer.out.suffix(3)) ?? 0
  }

  private static func broker() throws -> EmbeddedBroker {
    let broker = try EmbeddedBroker()
    for topic in ["events", "rouse.devices", "rouse.signals"] { try broker.createTopic(topic, partitions: 1) }
    return broker
  }

  private static func token(_ issuer: TestIssuer, roles: [String]) throws -> String {
    try issuer.token(TestIssuer.claims("feed", roles: roles, expires: Int(Date().timeIntervalSince1970) + 3600))
  }

  @Test("a gateway asks the issuer's address for its keys, accepts a token, and says in its status what it has")
  func address() throws {
    let (broker, place, issuer) = (try Self.broker(), try Workplace(), try TestIssuer())
    let server = try RequestServer(.answers(try TestIssuer.keySet(issuer)))
    try place.put(#"{"grants":[{"value":"feed","role":"publisher","sources":["/"]}]}"#, "grants.json")
    let run = try Self.run(
      broker, place, ["oidc.keysUrl=http://127.0.0.1:\(server.port)/keys", "oidc.grantsFile=grants.json"])
    let token = try Self.token(issuer, roles: ["feed"])
    let status = try soon("an answer that is not 503") {
      let status = try Self.status(run, token)
      return status == 503 ? nil : status
    }
    #expect(status == 202)
    let oidc = try JSONValue(parsing: run.page("/status"))["oidc"]
    #expect(oidc?["keys"] == .number(1) && oidc?["issuer"] == .string(TestIssuer.name) && oidc?["fault"] == nil)
    #expect(server.requests.first?.hasPrefix("GET /keys HTTP/1.1\r\n") == true)
    #expect(try run.page("/metrics").contains("\nrouse_oidc_keys 1\n"))
    #expect(try run.end() == 0)
  }

  @Test("a gateway starts while its issuer is away, is ready, says what is missing, and answers tokens with 503")
  func away() throws {
    let (broker, place, issuer) = (try Self.broker(), try Workplace(), try TestIssuer())
    // A port that nothing listens on.
    let run = try Self.run(broker, place, ["oidc.keysUrl=http://127.0.0.1:9/keys"])
    #expect(try Self.status(run, Self.token(issuer, roles: ["operator"])) == 503)
    let ready = try soon("readiness") { try? run.page("/readyz") }
    #expect(ready.hasPrefix("ok\nmissing: no token is accepted, because the issuer's keys cannot be used"), "\(ready)")
    let log = try run.words
    #expect(log.contains("the keys of the issuer cannot be read"), "\(log)")
    #expect(try run.end() == 0)
  }

  @Test("files that cannot be used end the start with words, and rouse doctor finds them")
  func files() throws {
    let (broker, place) = (try Self.broker(), try Workplace())
    try place.put(#"{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}"#, "keys.json")
    try place.put(#"{"grants":[{"value":"a","role":"publisher"}]}"#, "grants.json")
    try place.put(TestIssuer.keySet(TestIssuer()), "right.json")
    let run = ["--bootstrap", broker.bootstrapServers, "--set", "roles=gateway", "--set", "http.listen=127.0.0.1:0"]
    for (settings, words) in [
      (["oidc.keysFile=none.json"], "oidc.keysFile: cannot open none.json: no such file"),
      (["oidc.keysFile=keys.json"], "oidc.keysFile: none of them can check a signature"),
      (
        ["oidc.keysFile=right.json", "oidc.grantsFile=grants.json"], "oidc.grantsFile: grants.json: $.grants[0].sources"
      ),
    ] {
      let options = (Self.issuer + settings).flatMap { ["--set", $0] }
      let failed = try place.rouse(list: ["run"] + run + options)
      #expect(failed.status == 1 && failed.err.contains(words), "\(failed.err)")
      let doctor = try place.rouse(list: ["doctor"] + run + options)
      #expect(doctor.out.contains("TOKENS_UNCHECKED"), "\(doctor.out)\(doctor.err)")
    }
  }
}
