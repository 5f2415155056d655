import Foundation
import HTTPTesting
import Testing

@testable import Serving

@Suite("HTTP for machines") struct HTTPListenerTests {
  private static let pages = [
    HTTPPage("/livez") { _ in HTTPPage.Answer(contentType: "text/plain", body: Array("ok\n".utf8)) },
    HTTPPage("/accept") { accept in
      HTTPPage.Answer(status: 503, contentType: "text/x-test", body: Array((accept ?? "none").utf8))
    },
  ]

  private func listening(connectionsMax: Int = HTTPListener.connectionsMax, _ body: (HTTPListener) async throws -> Void)
    async throws
  {
    let listener = try await HTTPListener.start(
      HTTPAddress(host: "127.0.0.1", port: 0), pages: Self.pages, connectionsMax: connectionsMax)
    do { try await body(listener) } catch {
      await listener.stop()
      throw error
    }
    await listener.stop()
  }

  /// Runs a closure with a client of its own for each request, on a thread: `URLSession` gives its connection up when tests that compute
  /// keep it from its queue for five minutes.
  private func asking(
    _ body: @escaping @Sendable (_ ask: (String, String, [(String, String)]) throws -> TestClient.Answer) throws -> Void
  ) async throws {
    try await listening { listener in
      let address = listener.address
      try await onThread { try body { try TestClient(address).ask($0, $1, $2) } }
    }
  }

  @Test("a page is answered with its status, type and body, and a path without a page with 404")
  func pages() async throws {
    try await asking { ask in
      let page = try ask("GET", "/livez", [])
      #expect(page.status == 200 && page.headers["content-type"] == "text/plain" && page.text == "ok\n")
      let answer = try ask("GET", "/accept", [("Accept", "application/json")])
      #expect(answer.status == 503 && answer.headers["content-type"] == "text/x-test")
      #expect(answer.text == "application/json")
      #expect(try ask("GET", "/secret", []).status == 404)
      #expect(try page.faults(ofHead: ask("HEAD", "/livez", [])) == [])
    }
  }

  @Test("a request that changes something, or has a body or large headers, is refused")
  func refusals() async throws {
    try await asking { ask in
      let posted = try ask("POST", "/livez", [])
      #expect(posted.status == 405)
      #expect(try ask("OPTIONS", "/livez", []).headers["allow"] == "GET, HEAD")
      let large = try? ask(
        "GET", "/livez", [("X-Large", String(repeating: "x", count: 2 * HTTPListener.headerBytesMax))])
      #expect(large?.status != 200)
      #expect(try ask("GET", "/livez", []).status == 200, "others are answered as before")
    }
  }

  @Test("strangers that say nothing, or do not end what they say, keep no probe from its answer")
  func strangers() async throws {
    try await listening(connectionsMax: 50) { listener in
      let address = listener.address
      try await onThread {
        let beginnings = [
          "", "GET /livez HTTP/1.1\r\nHost: a\r\nX: ", "POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
        ]
        var strangers: [TestClient] = []
        for number in 0..<200 {
          let stranger = try TestClient(address)
          stranger.send(beginnings[number % beginnings.count])
          strangers.append(stranger)
          guard number % 50 == 0 else { continue }
          #expect(try TestClient(address).ask("GET", "/livez").text == "ok\n")
        }
        #expect(try TestClient(address).ask("GET", "/livez").text == "ok\n")
        #expect(strangers[0].isClosed, "the oldest gave way")
      }
    }
  }

  @Test(
    "clients are counted by address, those of IPv6 by network",
    arguments: [
      ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("::1", "0:0:0:0::/64"),
      ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8::6", "2001:db8:0:0::/64"),
      ("2001:db8:1:2::", "2001:db8:1:2::/64"), ("fe80::1%eth0", "fe80:0:0:0::/64"),
    ])
  func clients(address: String, name: String) { #expect(ClientShare.name(of: address) == name) }

  @Test("an address that another program has is refused, and told from other mistakes")
  func taken() async throws {
    try await listening { listener in
      let error = await #expect(throws: HTTPListenerError.self) {
        try await HTTPListener.start(listener.address, pages: [])
      }
      #expect(error?.isTaken == true)
      #expect(error?.description == "cannot listen on \(listener.address.text): another program listens there")
    }
    let other = await #expect(throws: HTTPListenerError.self) {
      try await HTTPListener.start(HTTPAddress(host: "203.0.113.1", port: 1), pages: [])
    }
    #expect(other?.isTaken == false)
  }

  @Test("a listener that was stopped answers no more, and its port is free")
  func stopped() async throws {
    var address: HTTPAddress?
    try await listening { listener in
      let first = listener.address
      let status = try await onThread { try TestClient(first).ask("GET", "/livez").status }
      #expect(status == 200)
      address = first
    }
    let again = try await HTTPListener.start(try #require(address), pages: Self.pages)
    #expect(again.address == address)
    await again.stop()
  }

  @Test(
    "addresses are read strictly",
    arguments: [
      ("127.0.0.1:9464", "127.0.0.1:9464"), ("localhost:0", "localhost:0"), ("[::1]:80", "[::1]:80"), ("::1:80", nil),
      (":80", nil), ("host", nil), ("host:65536", nil), ("host:-1", nil), ("a b:80", nil), ("", nil), ("off", nil),
    ] as [(String, String?)])
  func addresses(text: String, read: String?) { #expect(HTTPAddress(text)?.text == read) }
}
