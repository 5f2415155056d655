import Foundation
import HTTPTesting
import Serving
import Testing

@Suite("The HTTP server of an API") struct HTTPServerTests {
  private func serving(
    _ change: (inout HTTPServerLimits) -> Void = { _ in },
    _ body: @escaping @Sendable (HTTPServer, EchoService) throws -> Void
  ) async throws {
    try await ServerTurns.shared.run {
      var limits = HTTPServerLimits()
      change(&limits)
      let service = EchoService()
      let server = try await HTTPServer.start(HTTPAddress(host: "127.0.0.1", port: 0), service, limits: limits)
      let outcome = try await onThread { Result { try body(server, service) } }
      await server.stop()
      try outcome.get()
    }
  }

  @Test("requests follow each other on a connection, also when they are sent at once")
  func pipelined() async throws {
    try await serving { server, _ in
      let client = try TestClient(server.address)
      for text in ["one", "", "three"] { client.send("POST", "/", [], Array(text.utf8)) }
      for text in ["one", "", "three"] { #expect(client.answer()?.text == text) }
      client.send("POST", "/refused", [], Array("body".utf8))
      client.send("POST", "/", [("Connection", "close")], Array("last".utf8))
      let refused = try #require(client.answer())
      #expect(refused.text == "refused")
      let date = try #require(refused.headers["date"])
      #expect(date.contains(#/^[MTWFS][a-z]{2}, \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d GMT$/#), "\(date)")
      #expect(client.answer()?.text == "last")
      #expect(client.isClosed)
    }
  }

  @Test("requests that came together are answered in order, also when answers take time")
  func pipelinedAndHeld() async throws {
    try await serving { server, service in
      let client = try TestClient(server.address)
      client.send((0..<3).map { _ in "POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" }.joined())
      for _ in 0..<3 {
        while service.heldCount == 0 { sched_yield() }
        service.release()
        #expect(client.answer()?.text == "held")
      }
      let refusals = 1000
      client.send((0..<refusals).map { _ in "GET /refused HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
      for _ in 0..<refusals { #expect(client.answer()?.text == "refused") }
      client.send("GET http://elsewhere.example/refused?q HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(client.answer()?.status == 403)
    }
  }

  @Test("what is too large is refused, and the client reads why before the connection ends")
  func tooLarge() async throws {
    try await serving {
      $0.bodyBytesMax = 1000
    } _: { server, _ in
      let announced = try TestClient(server.address)
      announced.send("POST", "/", [("Content-Length", "1001")])
      #expect(announced.answer()?.text == "bodyTooLarge")
      let chunked = try TestClient(server.address)
      chunked.send("POST", "/", [("Transfer-Encoding", "chunked")], Array("400\r\n".utf8))
      chunked.send(Array(repeating: 0x61, count: 1024))
      #expect(chunked.answer()?.text == "bodyTooLarge")
      #expect(chunked.isClosed)
      let headers = try TestClient(server.address)
      headers.send("GET", "/", [("X", String(repeating: "x", count: 20_000))])
      #expect(headers.answer()?.text == "headersTooLarge")
      #expect(headers.isClosed)
      let many = try TestClient(server.address)
      many.send("GET", "/", (0..<200).map { ("X-\($0)", "x") })
      #expect(many.answer()?.text == "headersTooLarge")
      let nonsense = try TestClient(server.address)
      nonsense.send("\u{1}\u{2}\u{3}\r\n\r\n")
      #expect(nonsense.answer()?.text == "malformed")
      #expect(nonsense.isClosed)
    }
  }

  @Test("the bodies of all requests together are bounded, and the room is there again afterwards")
  func overloaded() async throws {
    try await serving {
      $0.bodiesBytesMax = 1500
    } _: { server, _ in
      let first = try TestClient(server.address)
      first.send("POST", "/", [("Content-Length", "1100")], Array(repeating: 0x61, count: 1000))
      let second = try TestClient(server.address)
      var refused = 0
      // Until the first body has arrived, there is room for the second.
      while refused == 0 {
        let client = try TestClient(server.address)
        client.send("POST", "/", [], Array(repeating: 0x62, count: 1000))
        if client.answer()?.text == "overloaded" { refused += 1 }
      }
      first.send(Array(repeating: 0x61, count: 100))
      #expect(first.answer()?.body.count == 1100)
      second.send("POST", "/", [], Array(repeating: 0x62, count: 1000))
      #expect(second.answer()?.body.count == 1000)
    }
  }

  @Test("a client that waits for 100 gets it, or the refusal at once")
  func expectation() async throws {
    try await serving { server, _ in
      let client = try TestClient(server.address)
      client.send("POST", "/", [("Expect", "100-continue"), ("Content-Length", "4")])
      #expect(client.answer()?.status == 100)
      client.send("body")
      #expect(client.answer()?.text == "body")
      client.send("POST", "/refused", [("Expect", "100-continue"), ("Content-Length", "4")])
      #expect(client.answer()?.text == "refused")
      #expect(client.isClosed)
    }
  }

  @Test("silent and slow clients are cut off, and their places are free again")
  func slow() async throws {
    try await serving {
      $0.headSeconds = 1
      $0.idleSeconds = 1
      $0.requestSeconds = 1
    } _: { server, _ in
      let silent = try TestClient(server.address)
      let slow = try TestClient(server.address)
      slow.send("POST", "/", [("Content-Length", "10")], [0x61])
      #expect(slow.answer()?.text == "tooSlow")
      #expect(slow.isClosed && silent.isClosed)
      let head = try TestClient(server.address)
      head.send("POST / HTTP/1.1\r\nX: ")
      #expect(head.isClosed, "a head that never ends is cut off as well")
      let later = try TestClient(server.address)
      later.send("POST", "/", [], Array("first".utf8))
      #expect(later.answer()?.text == "first")
      later.send("POST / HTTP/1.1\r\nX: ")
      #expect(later.isClosed, "a later head, too")
    }
  }

  @Test("at the bound, the oldest connection without a complete head gives way, and one with a request stays")
  func givingWay() async throws {
    try await serving {
      $0.connectionsMax = 4
      // Nothing ends by itself.
      ($0.headSeconds, $0.idleSeconds, $0.requestSeconds) = (3600, 3600, 3600)
    } _: { server, service in
      func held(_ source: String) throws -> TestClient {
        let client = try TestClient(server.address, from: source)
        let count = service.heldCount
        client.send("GET", "/held")
        while service.heldCount == count { sched_yield() }
        return client
      }
      let first = try held("127.0.0.2")
      let silent = try TestClient(server.address)
      silent.send("POST / HTTP/1.1\r\nX: ")
      let kept = try TestClient(server.address)
      kept.send("POST", "/", [], Array("kept".utf8))
      #expect(kept.answer()?.text == "kept")
      let newer = try TestClient(server.address, from: "127.0.0.3")
      newer.send("POST", "/", [], Array("newer".utf8))
      #expect(newer.answer()?.text == "newer")
      // Each of these takes the place of one of the others, whoever came before. None ends by itself.
      var clients: [TestClient] = []
      for number in 0..<100 {
        let client = try TestClient(server.address, from: "127.0.0.4")
        clients.append(client)
        client.send("POST", "/", [], Array("\(number)".utf8))
        #expect(client.answer()?.text == "\(number)")
      }
      #expect(silent.isClosed && kept.isClosed && newer.isClosed && clients.count == 100)
      #expect(service.heldCount == 1)
      let others = try (5...7).map { try held("127.0.0.\($0)") }
      // No connection can give way any more.
      let waiting = try TestClient(server.address, from: "127.0.0.8")
      waiting.send("POST", "/", [], Array("waited".utf8))
      service.release()
      for client in [first] + others { #expect(client.answer()?.text == "held") }
      #expect(waiting.answer()?.text == "waited")
    }
  }

  @Test("the connections of one address leave places for others")
  func share() async throws {
    try await serving {
      $0.connectionsMax = 4
      ($0.headSeconds, $0.idleSeconds, $0.requestSeconds) = (3600, 3600, 3600)
    } _: { server, service in
      let greedy = try (0..<3).map { _ in try TestClient(server.address) }
      for client in greedy { client.send("GET", "/held") }
      while service.heldCount < 3 { sched_yield() }
      #expect(try TestClient(server.address).isClosed, "a fourth has no place")
      let other = try TestClient(server.address, from: "127.0.0.2")
      other.send("POST", "/", [], Array("other".utf8))
      #expect(other.answer()?.text == "other")
      service.release()
      for client in greedy { #expect(client.answer()?.text == "held") }
      // They are silent now, so one of them gives way.
      let next = try TestClient(server.address)
      next.send("POST", "/", [], Array("next".utf8))
      #expect(next.answer()?.text == "next")
      #expect(greedy.contains { $0.isClosed })
    }
  }

  @Test("the bodies of one address leave room for those of others")
  func bodyShare() async throws {
    try await serving {
      $0.bodyBytesMax = 1000
      $0.bodiesBytesMax = 4000
    } _: { server, _ in
      let greedy = try (0..<3).map { _ in try TestClient(server.address) }
      for client in greedy {
        client.send("POST", "/", [("Content-Length", "1000")], Array(repeating: 0x61, count: 999))
      }
      while true {
        let client = try TestClient(server.address)
        client.send("POST", "/", [], Array(repeating: 0x62, count: 1000))
        if client.answer()?.text == "overloaded" { break }
      }
      let other = try TestClient(server.address, from: "127.0.0.2")
      other.send("POST", "/", [], Array(repeating: 0x63, count: 1000))
      #expect(other.answer()?.body.count == 1000)
    }
  }

  @Test(
    "a request of HTTP/1.1 names one host, or it is malformed",
    arguments: [
      ("1.1", [], "malformed"), ("1.1", ["a", "b"], "malformed"), ("1.1", ["a", "a"], "malformed"),
      ("1.1", ["a, b"], "malformed"), ("1.1", ["a/b"], "malformed"), ("1.1", ["a:80"], "ok"), ("1.1", [""], "ok"),
      ("1.1", ["[::1]:80"], "ok"), ("1.0", [], "ok"), ("1.0", ["a", "b"], "malformed"),
    ] as [(String, [String], String)])
  func host(version: String, hosts: [String], text: String) async throws {
    try await serving { server, _ in
      let client = try TestClient(server.address)
      let lines = hosts.map { "Host: \($0)\r\n" }.joined()
      client.send("POST / HTTP/\(version)\r\n\(lines)Content-Length: 2\r\n\r\nok")
      #expect(client.answer()?.text == text)
    }
  }

  @Test("clients that leave in the middle of a request disturb nobody")
  func leaving() async throws {
    try await serving { server, _ in
      for text in ["POST / HTTP/1.1\r\nX: ", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"] {
        let client = try TestClient(server.address)
        client.send("POST", "/", [], Array("whole".utf8))
        #expect(client.answer()?.text == "whole")
        client.send(text)
      }
      while server.connectionCount > 0 { sched_yield() }
      let client = try TestClient(server.address)
      client.send("POST", "/", [], Array("next".utf8))
      #expect(client.answer()?.text == "next")
    }
  }

  @Test("a server that is stopped answers what is under way, and its port is free")
  func stopped() async throws {
    let service = EchoService()
    let server = try await HTTPServer.start(HTTPAddress(host: "127.0.0.1", port: 0), service)
    let address = server.address
    let answer = Task {
      try await onThread {
        let client = try TestClient(address)
        client.send("POST", "/held")
        return (client.answer()?.text, client.isClosed)
      }
    }
    try await onThread {
      while service.heldCount == 0 { sched_yield() }
    }
    Thread {
      // Idle connections are closed first, so the server is ending when the answer comes.
      let half = try? TestClient(address)
      half?.send("POST / HTTP/1.1\r\nX: ")
      _ = half?.isClosed
      service.release()
    }.start()
    try await onThread { while server.connectionCount < 2 { sched_yield() } }
    await server.stop()
    let (text, isClosed) = try await answer.value
    #expect(text == "held" && isClosed)
    let again = try await HTTPServer.start(address, service)
    await again.stop()
    let error = await #expect(throws: HTTPListenerError.self) {
      try await HTTPServer.start(HTTPAddress(host: "203.0.113.1", port: 1), service)
    }
    #expect(error?.isTaken == false)
  }
}
