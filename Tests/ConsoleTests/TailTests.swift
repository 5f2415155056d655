import Auditing
import Domain
import Foundation
import HTTPTesting
import JSON
import Keys
import Serving
import Synchronization
import Testing

@testable import Console

@Suite("Tail of decisions") struct TailTests {
  /// An event of a stream.
  private struct StreamEvent: Equatable {
    var id: String
    var decision: String
  }

  /// A client that follows the decisions.
  private final class Follower {
    private let client: TestClient
    private var text = ""
    /// The number of times that the client was told of decisions that were left out.
    private(set) var omissions = 0

    init(_ console: RunningConsole, _ query: String = "", from last: String? = nil) throws {
      client = try console.client()
      client.send("GET", "/v1/decisions/tail\(query)", last.map { [("Last-Event-ID", $0)] } ?? [])
      let head = try #require(client.head())
      #expect(head.hasPrefix("HTTP/1.1 200") && head.contains("text/event-stream"))
    }

    /// Reads events until there are enough, or the stream ends.
    func events(_ count: Int) throws -> [StreamEvent] {
      var events: [StreamEvent] = []
      while events.count < count, let lines = block() {
        if lines.contains("event: omitted") { omissions += 1 }
        guard lines.contains("event: decision"), let data = lines.first(where: { $0.hasPrefix("data: ") }) else {
          continue
        }
        let id = lines.first { $0.hasPrefix("id: ") }?.dropFirst(4)
        let json = try JSONValue(parsing: String(data.dropFirst(6)))
        events.append(StreamEvent(id: String(id ?? ""), decision: json["decision"]?.text ?? ""))
      }
      return events
    }

    /// Reads until the client is told that new decisions follow.
    func awaitBeginning() {
      while let lines = block(), !lines.contains(": new decisions follow") {}
    }

    /// Reads the lines up to the next empty one; nil at the end of the stream.
    private func block() -> [Substring]? {
      while true {
        if let end = text.range(of: "\n\n") {
          let lines = text[..<end.lowerBound].split(separator: "\n")
          text = String(text[end.upperBound...])
          return lines
        }
        guard let chunk = client.chunk(), !chunk.isEmpty else { return nil }
        text += String(decoding: chunk, as: UTF8.self)
      }
    }
  }

  private static func store(_ console: RunningConsole, _ numbers: ClosedRange<Int>, device: Identifier = "phone") throws
  {
    let store = try AuditStore.open(path: console.storePath)
    var batch = AuditBatch()
    for n in numbers { batch.append(Sample.decision(n, device: device)) }
    try store.store(batch)
    try store.close()
  }

  @Test("the stream of a page continues the page: nothing is missing that was stored before it was opened")
  func page() async throws {
    try await RunningConsole.run { console in
      let text = try console.ask("/decisions?device=phone", [("Accept", "text/html")]).text
      try Self.store(console, 101...103)
      let address = try #require(text.split(separator: "data-stream=\"").last?.prefix { $0 != "\"" })
      let path = address.replacing("&amp;", with: "&")
      #expect(path.hasPrefix("/v1/decisions/tail?device=phone&cursor="))
      let follower = try Follower(console, String(path.dropFirst("/v1/decisions/tail".count)))
      #expect(try follower.events(3).map(\.decision) == ["d-0-101-0", "d-0-102-0", "d-0-103-0"])
    }
  }

  @Test("clients get what is stored, by their filters, and one that comes back continues where it was")
  func follow() async throws {
    try await RunningConsole.run { console in
      // The last of the first events tells that the tail has begun.
      let first = try Follower(
        console, "?device=phone", from: PageCursor.text(DecisionPlace(page: 0, line: -1, id: "")))
      let old = try first.events(15)
      #expect(old.map(\.decision) == stride(from: 2, through: 30, by: 2).map { "d-0-\($0)-0" })
      let second = try Follower(console, "?device=tablet", from: old.last?.id)
      try Self.store(console, 41...600)
      try Self.store(console, 601...601, device: "tablet")
      try Self.store(console, 602...700)
      let phone = try first.events(659)
      #expect(phone.map(\.decision) == (Array(41...600) + Array(602...700)).map { "d-0-\($0)-0" })
      #expect(try second.events(1).map(\.decision) == ["d-0-601-0"])
      #expect(Set(phone.map(\.id)).count == 659)
      for place in [0, 3, 511, 657] {
        let again = try Follower(console, "?device=phone", from: phone[place].id)
        #expect(try again.events(658 - place) == Array(phone[(place + 1)...]), "from \(place)")
      }
      // The cursor of a list is a place as well.
      let list = try console.ask("/v1/decisions?order=oldest&limit=699&format=ndjson")
      let cursor = try #require(list.next?.components(separatedBy: "cursor=").last)
      #expect(try Follower(console, "?cursor=\(cursor)").events(1).map(\.decision) == ["d-0-700-0"])
      // A place of another store begins with what is stored from now on.
      let other = PageCursor.text(DecisionPlace(page: 1 << 40, line: 3, id: "d-0-1-0"))
      let stranger = try Follower(console, from: other)
      stranger.awaitBeginning()
      try Self.store(console, 701...701)
      #expect(try stranger.events(1).map(\.decision) == ["d-0-701-0"])
    }
  }

  @Test("a client that wants only the newest gets these in order, and is told of those that were left out")
  func newest() async throws {
    try await RunningConsole.run { console in
      let some = try Follower(console, "?newest=3")
      let tablets = try Follower(console, "?newest=3&device=tablet")
      let all = try Follower(console)
      for follower in [some, tablets, all] { follower.awaitBeginning() }
      // One batch is one look at the store, because it is one transaction.
      try Self.store(console, 101...700)
      #expect(try some.events(3).map(\.decision) == ["d-0-698-0", "d-0-699-0", "d-0-700-0"])
      #expect(some.omissions == 1)
      try Self.store(console, 701...702, device: "tablet")
      #expect(try some.events(2).map(\.decision) == ["d-0-701-0", "d-0-702-0"])
      let last = try tablets.events(2)
      #expect(last.map(\.decision) == ["d-0-701-0", "d-0-702-0"] && some.omissions == 1)
      #expect(try all.events(602).map(\.decision) == (101...702).map { "d-0-\($0)-0" })
      let again = try Follower(console, "?newest=3", from: last[0].id)
      #expect(try again.events(1).map(\.decision) == ["d-0-702-0"] && again.omissions == 0)
      #expect(try console.ask("/v1/decisions/tail?newest=0").status == 400)
    }
  }

  @Test("a tail is refused with the reason, and too many are refused, until one has gone")
  func refusals() async throws {
    try await RunningConsole.run { console in
      #expect(try console.ask("/v1/decisions/tail?verdict=x").status == 400)
      #expect(try console.ask("/v1/decisions/tail", [("Last-Event-ID", "x")]).status == 400)
      #expect(try console.ask("/v1/decisions/tail", [("Accept", "application/json")]).status == 406)
      var clients = try (0..<DecisionTailer.tailsMax).map { _ in try Follower(console) }
      let refused = try console.ask("/v1/decisions/tail")
      #expect(refused.status == 503 && refused.headers["retry-after"] == "10")
      #expect(try console.client().ask("HEAD", "/v1/decisions/tail").status == 503)
      clients.removeAll()
      while console.server.tailCount > 0 { sched_yield() }
      #expect(try console.client().ask("HEAD", "/v1/decisions/tail").status == 200)
      let last = try Follower(console)
      _ = last
      #expect(console.server.tailCount == 1, "the end of the console ends it")
    }
  }

  @Test("one key has a share of the tails, so that others find a place")
  func share() async throws {
    let time = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
    let (busy, other) = (AccessKey.make(.auditor, created: time), AccessKey.make(.auditor, created: time))
    var file = KeyFile()
    file.keys = [busy.key, other.key]
    try await RunningConsole.run(keys: file) { console in
      func tail(_ secret: String) throws -> (client: TestClient, status: String) {
        let client = try console.client()
        client.send("GET", "/v1/decisions/tail", [("Authorization", "Bearer \(secret)")])
        return (client, String(client.head()?.split(separator: " ").dropFirst().first ?? ""))
      }
      let held = try (0..<DecisionTailer.tailsOfKeyMax).map { _ in try tail(busy.secret) }
      #expect(held.allSatisfy { $0.status == "200" })
      #expect(try tail(busy.secret).status == "429")
      #expect(try tail(other.secret).status == "200")
      _ = held
    }
  }

  @Test("a client that takes nothing is told, and ended; one with room gets a sign of life, and ends in time")
  func slow() {
    let tail = DecisionTail(DecisionFilter(), newest: nil, after: DecisionPlace(page: 0, line: -1, id: ""))
    let event = [UInt8](repeating: 65, count: 1000)
    for line in 0..<2000 { tail.offer(event, at: DecisionPlace(page: 1, line: line, id: "d")) }
    #expect(tail.hasEnded && !tail.hasRoom)
    let pieces = Pieces()
    tail.next { pieces.take($0) }
    tail.next { pieces.take($0) }
    #expect(pieces.text.utf8.count < DecisionTail.queueBytesMax + 2000)
    #expect(pieces.text.hasSuffix("too slow; come back with the id of the last event\n\n") && pieces.hasEnded)

    let patient = DecisionTail(DecisionFilter(), newest: nil, after: nil)
    let heard = Pieces()
    patient.next { heard.take($0) }
    patient.offer(event, at: DecisionPlace(page: 1, line: 0, id: "d"))
    #expect(heard.text == "retry: 2000\n\n", "a new client begins with what comes")
    let place = DecisionPlace(page: 1, line: 0, id: "d")
    patient.set(.live(place))
    patient.next { heard.take($0) }
    patient.offer(event, at: place)
    patient.tick(at: place, now: .now)
    #expect(heard.text == "retry: 2000\n\n")
    patient.tick(at: place, now: .now + DecisionTail.silenceMax)
    #expect(heard.text.hasSuffix(": nothing new\nid: \(PageCursor.text(place))\n\n"))
    patient.next { heard.take($0) }
    patient.tick(at: place, now: .now + DecisionTail.timeMax)
    patient.next { heard.take($0) }
    patient.next { heard.take($0) }
    #expect(patient.hasEnded && heard.hasEnded)
  }

  /// The pieces of a body.
  private final class Pieces: Sendable {
    private let state = Mutex((text: "", hasEnded: false))

    var text: String { state.withLock { $0.text } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func take(_ piece: HTTPBodyStream.Piece) {
      state.withLock { state in
        switch piece {
        case .bytes(let bytes): state.text += String(decoding: bytes, as: UTF8.self)
        case .end: state.hasEnded = true
        case .broken: break
        }
      }
    }
  }
}
