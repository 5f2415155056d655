import Foundation
import HTTPTesting
import KafkaClient
import Testing

@Suite("rouse run with TLS") struct TLSRoleTests {
  private static let gatewayFiles = [
    "--set", "gateway.tlsCertificateFile=tls.crt", "--set", "gateway.tlsKeyFile=tls.key",
  ]
  private static let consoleFiles = [
    "--set", "console.tlsCertificateFile=tls.crt", "--set", "console.tlsKeyFile=tls.key",
  ]

  /// Makes a certificate in a folder, under names that settings can have.
  private func certified() throws -> Workplace {
    let place = try Workplace()
    let made = try TestCertificate()
    defer { made.remove() }
    for name in ["tls.crt", "tls.key"] { try place.put(Data(contentsOf: made.folder.appending(path: name)), name) }
    return place
  }

  @Test("gateway and console serve HTTP/2 and HTTP/1.1 over TLS, with cookies for TLS alone, and follow a renewal")
  func serving() throws {
    let place = try certified()
    let broker = try EmbeddedBroker()
    for topic in ["events", "rouse.devices", "rouse.signals", "rouse.log"] {
      try broker.createTopic(topic, partitions: 1)
    }
    #expect(try place.rouse("keys", "create", "--role", "publisher", "--file", "keys.json").status == 0)
    let key = try #require(try place.rouse("keys", "create", "--role", "auditor", "--file", "keys.json").lines.first)
    let rouse = try RunningRouse(
      list: [
        "run", "--bootstrap", broker.bootstrapServers, "--set", "http.listen=127.0.0.1:0", "--set",
        "roles=gateway,console",
        "--set", "gateway.listen=127.0.0.1:0", "--set", "console.listen=127.0.0.1:0", "--set", "console.keys=keys.json",
      ] + Self.gatewayFiles + Self.consoleFiles, in: place,
      address: #/https://[0-9.:]+(?=[^\n]*the console listens)/#)
    let words = try rouse.words
    let gateway = try #require(
      words.firstMatch(of: #/https://[0-9.:]+(?=[^\n]*the gateway listens)/#).map { "\($0.0)" })

    let event = #"{"specversion":"1.0","id":"e","source":"/s","type":"t","subject":"a"}"#
    for (option, version) in [("--http2", "2"), ("--http1.1", "1.1")] {
      let published = try soon("the producer") {
        let answer = try Tool.curl([
          "--cacert", place.path("tls.crt"), option, "\(gateway)/v1/events", "-d", event, "-H",
          "Content-Type: application/cloudevents+json", "-w", "%{http_code} %{http_version}",
        ])
        return answer.out.hasSuffix("503 \(version)") ? nil : answer
      }
      #expect(published.out.hasSuffix("202 \(version)") && published.out.contains(#""topic":"events""#), "\(published)")
    }

    let signedIn = try Tool.curl([
      "--cacert", place.path("tls.crt"), "--http2", "-i", "\(rouse.address)/sign-in", "--data-urlencode", "key=\(key)",
    ])
    #expect(signedIn.out.hasPrefix("HTTP/2 303"), "\(signedIn)")
    #expect(signedIn.out.contains("; HttpOnly; SameSite=Lax; Secure\r\n"), "\(signedIn)")
    let cookie = try #require(signedIn.out.firstMatch(of: #/rouse-session=[0-9a-f]+/#).map { "\($0.0)" })
    let page = try Tool.curl([
      "--cacert", place.path("tls.crt"), "--http2", "\(rouse.address)/policy/check", "-H", "Cookie: a=b", "-H",
      "Cookie: \(cookie)", "-o", place.path("page"), "-w", "%{http_code}",
    ])
    #expect(page.out != "401" && page.out != "303", "\(page)")
    let machines = try #require(words.firstMatch(of: #/http://[0-9.:]+/metrics/#).map { "\($0.0)" })
    let metrics = try Tool.curl([machines]).out
    for role in ["gateway", "console"] { #expect(metrics.contains("\nrouse_\(role)_certificate_seconds_left 777")) }

    let made = try TestCertificate()
    defer { made.remove() }
    for name in ["tls.crt", "tls.key"] { try place.put(Data(contentsOf: made.folder.appending(path: name)), name) }
    for address in [gateway, rouse.address] {
      try soon("the new certificate") {
        try Tool.curl(["--cacert", made.path("tls.crt"), "\(address)/"]).status == 0 ? true : nil
      }
    }
    #expect(try rouse.end() == 0)
  }

  @Test("a certificate without its key, and files that cannot be used, end the start with words")
  func refused() throws {
    let place = try certified()
    let broker = try EmbeddedBroker()
    let run = ["run", "--bootstrap", broker.bootstrapServers, "--set", "http.listen=127.0.0.1:0"]
    for role in ["gateway", "console"] {
      let one = try place.rouse(
        list: run + ["--set", "roles=\(role)", "--set", "\(role).tlsCertificateFile=tls.crt"])
      #expect(
        one.status != 0
          && one.err.contains(
            "\(role).tlsKeyFile: \(role).tlsCertificateFile is set, so name the private key of it, too"),
        "\(one.err)")
      let missing = try place.rouse(
        list: run + [
          "--set", "roles=\(role)", "--set", "\(role).tlsCertificateFile=none.crt", "--set",
          "\(role).tlsKeyFile=tls.key",
        ])
      #expect(
        missing.status == 1 && missing.err.contains("\(role).tlsCertificateFile: cannot open none.crt: no such file"),
        "\(missing.err)")
    }
  }
}
