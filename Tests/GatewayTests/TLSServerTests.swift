import Foundation
import HTTPTesting
import Serving
import Testing

@Suite("The HTTP server of an API over TLS and HTTP/2") struct TLSServerTests {
  /// A server with a certificate of its own, and curl for it.
  fileprivate struct Served: Sendable {
    var server: HTTPServer
    var service: EchoService
    var certificate: TestCertificate

    /// Runs curl against a path.
    func curl(_ path: String, _ arguments: String...) throws -> Tool.Outcome {
      try Tool.curl(
        ["--cacert", certificate.path("tls.crt")] + arguments + ["https://localhost:\(server.address.port)\(path)"])
    }
  }

  private func serving(
    _ change: (inout HTTPServerLimits) -> Void = { _ in }, _ body: @escaping @Sendable (Served) throws -> Void
  ) async throws {
    try await ServerTurns.shared.run {
      let certificate = try TestCertificate()
      defer { certificate.remove() }
      var limits = HTTPServerLimits()
      change(&limits)
      let service = EchoService()
      let server = try await HTTPServer.start(
        HTTPAddress(host: "127.0.0.1", port: 0), service, limits: limits,
        certificate: TLSCertificate(certificate.paths, logger: RunningGateway.silent))
      let served = Served(server: server, service: service, certificate: certificate)
      let outcome = try await onThread { Result { try body(served) } }
      await server.stop()
      try outcome.get()
    }
  }

  @Test("a connection of HTTP/2 whose requests were refused gives way, and one with a request that was taken stays")
  func givingWay() async throws {
    try await serving {
      $0.connectionsMax = 4
      ($0.headSeconds, $0.idleSeconds, $0.requestSeconds) = (3600, 3600, 3600)
    } _: { served in
      let taken = try TestHTTP2Client(served.server.address)
      taken.request(1, "GET", "/held")
      while served.service.heldCount == 0 { sched_yield() }
      let refused = try TestHTTP2Client(served.server.address)
      refused.request(1, "POST", "/refused", isWhole: false)
      // The answer to a ping comes behind the request.
      refused.send(6, 0, 0, Array(repeating: 0, count: 8))
      while let frame = refused.frame(), frame.type != 6 {}
      let idle = try TestHTTP2Client(served.server.address)
      idle.request(1, "GET", "/")
      #expect(idle.body(1) != nil)
      // One address may have three connections.
      let last = try TestHTTP2Client(served.server.address)
      last.request(1, "GET", "/")
      #expect(last.body(1) != nil)
      _ = refused.rest()
      idle.request(3, "GET", "/")
      #expect(idle.body(3) != nil, "it came later than the one that gave way")
      served.service.release()
      #expect(taken.body(1) == "held")
    }
  }

  @Test("a client gets HTTP/2 if it speaks it, and HTTP/1.1 otherwise, with the same answers")
  func versions() async throws {
    try await serving { served in
      let body = String(repeating: "a", count: 700_000)
      let file = served.certificate.folder.appending(path: "body")
      try Data(body.utf8).write(to: file)
      for (option, version) in [("--http2", "2"), ("--http1.1", "1.1")] {
        let echo = try served.curl("/", option, "--data-binary", "@\(file.path)", "-w", "%{http_version}")
        #expect(echo.out == body + version, "\(echo.out.count) \(echo.err)")
        let refused = try served.curl("/refused", option, "-d", "x", "-w", " %{http_code} %{header_json}")
        #expect(refused.out.hasPrefix("refused 403 "), "\(refused)")
        #expect(refused.out.contains("\"date\"") && refused.out.contains("\"text/plain\""))
        #expect(!refused.out.contains("connection"))
        let stream = try served.curl("/stream", option, "-w", " %{header_json}")
        #expect(stream.out.hasPrefix(String(repeating: "a", count: 3 * 4096) + " ") && stream.out.contains("\"date\""))
        let unchanged = try served.curl("/unchanged", option, "-w", "%{http_code} %{header_json}")
        #expect(unchanged.status == 0 && unchanged.out.hasPrefix("304") && unchanged.out.contains("\"date\""))
        #expect(!unchanged.out.contains("content-"), "\(unchanged)")
        for path in ["/", "/stream", "/refused", "/unchanged"] {
          let head = try served.curl(path, option, "--head", "-w", "%{http_code}")
          let status = ["/refused": "403", "/unchanged": "304"][path] ?? "200"
          #expect(head.status == 0 && head.out.hasSuffix(status), "\(option) \(path) \(head)")
        }
      }
      let cookies = try served.curl("/cookie", "--http2", "-H", "Cookie: a=1", "-H", "Cookie: b=2")
      #expect(cookies.out == "localhost:\(served.server.address.port) a=1; b=2")
    }
  }

  @Test("a client without TLS, or with an old one, or one that does not trust the certificate gets nothing")
  func refusedClients() async throws {
    try await serving { served in
      let plain = try TestClient(served.server.address)
      plain.send("GET", "/")
      #expect(plain.answer() == nil)
      let old = try served.curl("/", "--tls-max", "1.1", "--ciphers", "DEFAULT@SECLEVEL=0")
      #expect(old.status == 35, "\(old)")
      #expect(try served.curl("/", "--tls-max", "1.2", "-w", "%{http_version}").out == "2")
      let strange = try Tool.curl(["https://localhost:\(served.server.address.port)/"])
      #expect(strange.status == 60, "\(strange)")
    }
  }

  @Test("what is too large or malformed is refused over HTTP/2 with the same words")
  func tooLarge() async throws {
    try await serving {
      $0.bodyBytesMax = 100_000
    } _: { served in
      let file = served.certificate.folder.appending(path: "body")
      try Data(count: 2_000_000).write(to: file)
      for option in ["--http2", "--http1.1"] {
        let large = try served.curl("/", option, "--data-binary", "@\(file.path)")
        #expect(large.out == "bodyTooLarge", "\(option) \(large)")
        let chunked = try served.curl(
          "/", option, "-T", file.path, "-X", "POST", "-H", "Transfer-Encoding: chunked", "-H", "Expect:")
        #expect(chunked.out == "bodyTooLarge", "\(option) \(chunked)")
        let headers = try served.curl("/", option, "-H", "x: " + String(repeating: "x", count: 20_000))
        // Over HTTP/2, such a head may also end the connection.
        #expect(headers.out == "headersTooLarge" || option == "--http2" && headers.status != 0, "\(option) \(headers)")
        let many = try served.curl(
          "/", option, "-K", Self.file(in: served, (0..<101).map { "header = \"x-\($0): x\"\n" }.joined()))
        #expect(many.out == "headersTooLarge", "\(option) \(many)")
      }
      for (path, headers) in [
        ("/a b", []), ("/", [("x", String(repeating: "x", count: 40_000))]), ("/", [("x", "a\nb")]),
      ] {
        let client = try TestHTTP2Client(served.server.address)
        client.request(1, "GET", path, headers)
        #expect(client.body(1) == nil, "\(path) \(headers)")
      }
      let client = try TestHTTP2Client(served.server.address)
      client.request(1, "GET", "/held")
      client.request(3, "GET", "/", [("host", "elsewhere")])
      #expect(client.body(3) == "malformed")
      client.request(5, "POST", "/", isWhole: false)
      client.send(TestHTTP2Client.Frame.data, 1, 5, Array("next".utf8))
      #expect(client.body(5) == "next")
      client.request(7, "GET", "/", [("connection", "close")])
      #expect(client.body(7) == nil)
      served.service.release()
      #expect(client.body(1) == "held", "a mistake of one request is not that of the others")
    }
  }

  @Test(
    "a malformed head of HTTP/2 ends its request, and the connection takes further ones",
    arguments: [
      [("connection", "close")], [("Upper", "x")], [(":path", "/")], [(":unknown", "x")], [("x", "y"), (":path", "/")],
      [("te", "gzip")], [("x", "a\nb")], [("content-length", "x")],
    ])
  func malformedHead(headers: [(String, String)]) async throws {
    try await serving { served in
      let client = try TestHTTP2Client(served.server.address)
      client.request(1, "GET", "/held")
      client.request(3, "GET", "/", headers)
      #expect(client.body(3) == nil)
      client.request(5, "POST", "/", isWhole: false)
      client.send(TestHTTP2Client.Frame.data, 1, 5, Array("next".utf8))
      #expect(client.body(5) == "next")
      served.service.release()
      #expect(client.body(1) == "held")
    }
  }

  private static func file(in served: Served, _ text: String) throws -> String {
    let file = served.certificate.folder.appending(path: "curl.config")
    try Data(text.utf8).write(to: file)
    return file.path
  }

  @Test(
    "clients that are silent or slow before, in or after the handshake are cut off, and their places are free again")
  func slow() async throws {
    try await serving {
      $0.idleSeconds = 1
      // A handshake may take that long while other tests compute.
      $0.requestSeconds = 4
      $0.headSeconds = 4
      $0.connectionsMax = 3
    } _: { served in
      let withoutHandshake = try TestClient(served.server.address)
      let withoutPreface = try TestHTTP2Client(served.server.address, settings: nil)
      let slow = try TestHTTP2Client(served.server.address)
      slow.request(1, "POST", "/", isWhole: false)
      #expect(slow.body(1) == "tooSlow")
      #expect(slow.rest().contains(TestHTTP2Client.Frame.goAway), "without a request, it is closed in turn")
      #expect(withoutHandshake.isClosed)
      #expect(withoutPreface.rest().contains(TestHTTP2Client.Frame.goAway))
      // It waits until one of the others is cut off.
      #expect(try served.curl("/", "-d", "next").out == "next")
      #expect(served.server.connectionCount <= 3)
    }
  }

  @Test("a client that does not take its answer loses the connection, with all of its requests")
  func notTaken() async throws {
    try await serving {
      $0.requestSeconds = 4
    } _: { served in
      // It gives the answer no room at all (initial window size).
      let client = try TestHTTP2Client(served.server.address, settings: [(4, 0)])
      client.request(1, "GET", "/endless")
      client.request(3, "GET", "/held")
      #expect(client.body(1) == nil)
      while served.server.connectionCount > 0 { sched_yield() }
      served.service.release()
    }
  }

  @Test("the requests of a connection, of the whole server and their bodies are bounded")
  func bounded() async throws {
    try await serving {
      $0.streamsMax = 3
      $0.requestsMax = 2
      $0.bodiesBytesMax = 1500
    } _: { served in
      let client = try TestHTTP2Client(served.server.address)
      for stream in [1, 3] { client.request(stream, "GET", "/held") }
      while served.service.heldCount < 2 { sched_yield() }
      let other = try TestHTTP2Client(served.server.address)
      other.request(1, "GET", "/")
      #expect(other.body(1) == "overloaded")
      other.request(3, "HEAD", "/")
      #expect(other.body(3) == "", "an answer to HEAD has no body, also a refusal")
      client.request(5, "GET", "/")
      #expect(client.body(5) == "overloaded")
      served.service.release()
      #expect(client.body(1) == "held" && client.body(3) == "held")
      client.request(7, "POST", "/", isWhole: false)
      client.send(TestHTTP2Client.Frame.data, 0, 7, Array(repeating: 0x61, count: 1000))
      client.request(9, "POST", "/", isWhole: false)
      client.send(TestHTTP2Client.Frame.data, 0, 9, Array(repeating: 0x61, count: 1000))
      #expect(client.body(9) == "overloaded")
      client.send(TestHTTP2Client.Frame.data, 1, 7, Array(repeating: 0x61, count: 100))
      #expect(client.body(7)?.count == 1100)
    }
    try await serving {
      $0.streamsMax = 2
    } _: { served in
      let client = try TestHTTP2Client(served.server.address)
      while let frame = client.frame(), frame.type != TestHTTP2Client.Frame.settings {}
      client.send(TestHTTP2Client.Frame.settings, 1, 0)
      for stream in [1, 3, 5] { client.request(stream, "GET", "/held") }
      while let frame = client.frame(), frame.type != TestHTTP2Client.Frame.goAway {}
      while served.service.heldCount < 2 { sched_yield() }
      #expect(served.service.heldCount == 2)
      served.service.release()
      #expect(client.body(3) == "held")
      #expect(client.body(5) == nil, "a client that does not heed the bound is refused the request")
    }
  }

  @Test("a server that is stopped answers what is under way over HTTP/2, and takes nothing new")
  func stopped() async throws {
    let certificate = try TestCertificate()
    defer { certificate.remove() }
    let service = EchoService()
    let server = try await HTTPServer.start(
      HTTPAddress(host: "127.0.0.1", port: 0), service,
      certificate: TLSCertificate(certificate.paths, logger: RunningGateway.silent))
    let address = server.address
    let answer = Task {
      try await onThread {
        let idle = try TestClient(address)
        let client = try TestHTTP2Client(address)
        client.request(1, "GET", "/held")
        while let frame = client.frame(), frame.type != TestHTTP2Client.Frame.goAway {}
        service.release()
        return (client.body(1), client.rest(), idle.isClosed)
      }
    }
    try await onThread { while service.heldCount == 0 { sched_yield() } }
    await server.stop()
    let (text, _, isClosed) = try await answer.value
    #expect(text == "held" && isClosed)
    #expect(server.connectionCount == 0)
  }

  @Test("a renewed certificate is used for the next connection, without a restart and for those that are open")
  func renewed() async throws {
    try await serving {
      // The connection stays open while curl is started, again and again, on a busy machine.
      $0.idleSeconds = 3600
    } _: { served in
      let open = try TestHTTP2Client(served.server.address)
      open.request(1, "GET", "/")
      #expect(open.body(1) == "")
      try served.certificate.make("new")
      #expect(
        try Tool.curl(["--cacert", served.certificate.path("new.crt"), served.url]).status == 60,
        "the new one is not in force yet")
      try served.certificate.replace("tls.key", by: "new.key")
      try served.certificate.replace("tls.crt", by: "new.crt")
      while try served.curl("/").status != 0 { sched_yield() }
      open.request(3, "GET", "/")
      #expect(open.body(3) == "")
    }
  }
}

extension TLSServerTests.Served {
  fileprivate var url: String { "https://localhost:\(server.address.port)/" }
}
