import Auditing
import Domain
import Foundation
import HTTPTesting
import JSON
import Serving
import Testing

@testable import Console

@Suite("Questions over HTTP") struct QuestionTests {
  @Test("a question has the JSON of rouse audit")
  func same() async throws {
    try await RunningConsole.run { console in
      let store = try AuditStore.open(path: console.storePath, options: AuditOptions(access: .read))
      let hostile = PageLink.escaped(Sample.hostile.text)
      let answers: [(String, String)] = [
        ("/v1/summary", AuditJSON.render(try store.summary())),
        ("/v1/devices/phone/timeline?limit=7", AuditJSON.render(try store.device("phone", limit: 7))),
        ("/v1/devices/\(hostile)/timeline", AuditJSON.render(try store.device(Sample.hostile))),
        ("/v1/devices/nobody/timeline", AuditJSON.render(try store.device("nobody"))),
        (
          "/v1/devices/phone/statement?utcOffset=-04:00",
          AuditJSON.render(try store.statement("phone", utcOffset: .hours(-4)))
        ),
        ("/v1/why?device=phone&event=e0", AuditJSON.render(try store.why(WhyQuestion(device: "phone", event: "e0")))),
        (
          "/v1/why?device=\(hostile)&instance=\(hostile)&kind=\(hostile)&at=2026-11-20T14:00:35Z",
          AuditJSON.render(
            try store.why(
              WhyQuestion(
                device: Sample.hostile, instance: Sample.hostile, kind: Sample.hostile, at: Sample.start + .seconds(35))
            ))
        ),
        ("/v1/events/e1", AuditJSON.render(try store.event("e1"))),
        ("/v1/events/\(hostile)", AuditJSON.render(try store.event(Sample.hostile))),
        ("/v1/top?by=device&limit=2", AuditJSON.render(try store.top(by: .device, limit: 2))),
        (
          "/v1/top?from=2026-11-20T14:00:10Z&to=2026-11-20T16:00:20%2B02:00",
          AuditJSON.render(
            try store.top(
              by: .reason, range: TimeRange(from: Sample.start + .seconds(10), to: Sample.start + .seconds(20)),
              limit: 100))
        ),
        ("/v1/live-activities/zombies", AuditJSON.render(try store.zombies())),
        ("/v1/health", AuditJSON.render(try store.health())),
      ]
      let client = try console.client()
      for (path, json) in answers {
        let answer = try client.ask("GET", path)
        #expect(answer.status == 200, "\(path): \(answer.text)")
        #expect(answer.body == PrintableJSON.escape(Array(json.utf8)) + [10], "\(path)")
        #expect(answer.headers["content-type"] == "application/json")
        #expect(answer.headers["cache-control"] == "no-store")
      }
      let decision = try client.ask("GET", "/v1/decisions/d-0-7-0")
      #expect(try decision.json["device"] == .string("tablet"))
      let command = try client.ask("GET", "/v1/commands/c-0-30-0")
      #expect(try command.json["command"]?["device"] == .string("phone"))
      #expect(try command.json["decisions"]?[0]?["decision"] == .string("d-0-30-0"))
      #expect(try client.ask("GET", "/v1/decisions/d-0-99-0").status == 404)
      #expect(try client.ask("GET", "/v1/decisions/\(hostile)").status == 404)
      #expect(try client.ask("GET", "/v1/commands/\(hostile)").status == 404)
    }
  }

  @Test("lists lead from part to part, and no record comes twice or never", arguments: [1, 7, 40, 1000])
  func parts(limit: Int) async throws {
    try await RunningConsole.run { console in
      let client = try console.client()
      func all(_ first: String) throws -> [String] {
        var (ids, path, parts): ([String], String?, Int) = ([], first, 0)
        while let here = path {
          let answer = try client.ask("GET", here, [("Accept", "application/x-ndjson")])
          #expect(answer.status == 200, "\(here): \(answer.text)")
          for line in answer.text.split(separator: "\n") {
            let record = try JSONValue(parsing: String(line))
            guard case .string(let id) = record["decision"] ?? record["command"] else {
              throw CocoaError(.coderInvalidValue)
            }
            ids.append(id)
          }
          path = answer.next
          parts += 1
          guard parts < 200 else { throw CocoaError(.coderInvalidValue) }
        }
        return ids
      }
      let newest = (1...40).reversed().map { "d-0-\($0)-0" }
      #expect(try all("/v1/decisions?limit=\(limit)") == newest)
      #expect(try all("/v1/decisions?limit=\(limit)&order=oldest") == newest.reversed())
      let hostile = PageLink.escaped(Sample.hostile.text)
      #expect(
        try all("/v1/decisions?limit=\(limit)&device=\(hostile)&kind=\(hostile)")
          == (31...40).reversed().map { "d-0-\($0)-0" })
      #expect(
        try all("/v1/decisions?limit=\(limit)&event=e0&device=phone&verdict=emit&reason=EMITTED&final=true") == [
          "d-0-30-0"
        ])
      #expect(
        try all("/v1/decisions?limit=\(limit)&order=oldest&from=2026-11-20T14:00:38Z&to=2026-11-20T14:00:40Z")
          == ["d-0-38-0", "d-0-39-0"])
      #expect(try all("/v1/decisions?limit=\(limit)&command=c-0-30-0") == ["d-0-30-0"])
      #expect(try all("/v1/decisions?limit=\(limit)&surface=control").isEmpty)
      #expect(try all("/v1/decisions?limit=\(limit)&objective=missed") == ["d-0-7-0"])
      #expect(try all("/v1/decisions?limit=\(limit)&objective=met").isEmpty)
      let timeline = try all("/v1/devices/phone/timeline?limit=\(limit)")
      #expect(Set(timeline) == Set(stride(from: 2, through: 30, by: 2).map { "d-0-\($0)-0" } + ["c-0-30-0"]))
      #expect(timeline.count == 16)
    }
  }

  @Test(
    "a list of counted values leads from part to part, and what is stored meanwhile moves nothing",
    arguments: Top.Key.allCases)
  func countedParts(_ key: Top.Key) async throws {
    try await RunningConsole.run { console in
      let whole = try AuditStore.open(path: console.storePath, options: AuditOptions(access: .read))
        .top(by: key, limit: 1000)
      let writer = try AuditStore.open(path: console.storePath)
      var (found, path, parts): ([String], String?, Int) = ([], "/v1/top?by=\(key.rawValue)&limit=1", 0)
      while let here = path, parts < 100 {
        let answer = try console.ask(here)
        #expect(try answer.json["total"] == .number(Double(whole.total)), "\(here)")
        #expect(try answer.json["distinct"] == .number(Double(whole.distinct)))
        for row in try answer.json["rows"]?.elements ?? [] {
          guard case .number(let count) = row["decisions"] else { continue }
          found.append("\(row[key.rawValue]?.text ?? "") \(Int(count))")
        }
        path = answer.next
        parts += 1
        var batch = AuditBatch()
        // The last value becomes the first one.
        for n in 0..<50 { batch.append(Sample.decision(100 * parts + n, at: Sample.start + .hours(2))) }
        try writer.store(batch)
      }
      #expect(found == whole.rows.map { "\($0.name.text) \($0.decisions)" } && found.count > 1 && parts == found.count)
    }
  }

  @Test("a timeline is continued within a microsecond")
  func moments() async throws {
    var batch = AuditBatch()
    for n in 1...9 { batch.append(Sample.decision(n, at: Sample.start)) }
    batch.append(Sample.decision(10, at: Sample.start + .seconds(1)))
    try await RunningConsole.run(batch) { console in
      var (path, parts): (String?, [[String]]) = ("/v1/devices/phone/timeline?limit=4", [])
      while let here = path, parts.count < 10 {
        let answer = try console.ask(here)
        parts.append((try answer.json["entries"]?.elements ?? []).compactMap { $0["decision"]?.text })
        path = answer.next
      }
      #expect(
        parts == [
          ["d-0-7-0", "d-0-8-0", "d-0-9-0", "d-0-10-0"], ["d-0-3-0", "d-0-4-0", "d-0-5-0", "d-0-6-0"],
          ["d-0-1-0", "d-0-2-0"],
        ])
    }
  }

  @Test("all mistakes of a query are told at once, each with its name and the nearest known one")
  func mistakes() async throws {
    try await RunningConsole.run { console in
      let answer = try console.ask(
        "/v1/decisions?devcie=a&limit=0&from=yesterday&verdict=emitt&objective=late&cursor=x&final=maybe&kind=&event=a&event=b&limt=1"
      )
      #expect(answer.status == 400)
      #expect(answer.headers["content-type"] == "application/problem+json")
      let problem = try answer.json
      #expect(problem["type"] == .string("urn:rouse:problem:query-refused"))
      let errors = problem["errors"]?.elements ?? []
      let byName = Dictionary(errors.map { ($0["parameter"]?.text ?? "", $0["detail"]?.text ?? "") }) { a, _ in a }
      #expect(
        byName == [
          "devcie": "unknown; did you mean device?", "limt": "unknown; did you mean limit?",
          "limit": "expected a number from 1 to 1000, found '0'",
          "from": "expected an RFC 3339 date and time such as 2013-07-04T12:00:00Z, found 'yesterday'",
          "verdict": "expected emit, defer, coalesce, suppress, found 'emitt'; did you mean emit?",
          "objective": "expected met, missed, found 'late'",
          "cursor": "is none that this question gave; begin without one",
          "final": "expected true or false, found 'maybe'",
          "kind": "has no value; leave it out, or give it one", "event": "named 2 times; name it once",
        ])
      for path in [
        "/v1/why", "/v1/why?device=", "/v1/summary?x=1", "/v1/top?by=colour",
        "/v1/export?from=2026-11-20T14:00:00Z&to=2026-11-20T14:00:00Z",
        "/v1/devices/phone/statement?utcOffset=Rome", "/v1/devices/\(String(repeating: "d", count: 2000))/timeline",
        "/v1/devices/%FF/timeline", "/v1/decisions?device=%FF", "/v1/export?format=json",
        "/v1/decisions?device=\(String(repeating: "%C3%A4", count: 1000))",
      ] {
        #expect(try console.ask(path).status == 400, "\(path)")
      }
    }
  }

  @Test("CSV has a line of names, quotes what needs it, and no cell that a spreadsheet takes for a formula")
  func csv() async throws {
    try await RunningConsole.run { console in
      let answer = try console.ask(
        "/v1/decisions?device=\(PageLink.escaped(Sample.hostile.text))&limit=1", [("Accept", "text/csv")])
      #expect(answer.headers["content-type"] == "text/csv; charset=utf-8; header=present")
      #expect(answer.headers["content-disposition"] == "attachment; filename=\"decisions.csv\"")
      let cell = "\"'=cmd|'/C calc'!A0\r\n\"\"x\"\",<script>ä🏈\u{202e}\""
      #expect(answer.text.hasPrefix("record,id,at,device,instance,kind,"))
      #expect(
        answer.text.contains(
          "\r\ndecision,d-0-40-0,2026-11-20T14:00:40Z,\(cell),\(cell),\(cell),widget,suppress,NOT_VISIBLE,true,"))
      #expect(answer.text.hasSuffix("\r\n"))
      for path in [
        "summary", "top", "health", "events/e1", "why?device=phone", "devices/phone/statement",
        "live-activities/zombies",
        "decisions/d-0-1-0", "commands/c-0-30-0", "devices/phone/timeline",
      ] {
        let csv = try console.ask("/v1/\(path)", [("Accept", "text/csv, application/json;q=0.9")])
        #expect(csv.headers["content-type"]?.hasPrefix("text/csv") == true, "\(path)")
        let lines = csv.text.components(separatedBy: "\r\n").dropLast()
        let columns = lines.first?.split(separator: ",").count ?? 0
        #expect(
          columns > 1
            && lines.allSatisfy {
              $0.contains("\"") || $0.split(separator: ",", omittingEmptySubsequences: false).count == columns
            })
        let json = try console.ask("/v1/\(path)\(path.contains("?") ? "&" : "?")format=ndjson")
        #expect(json.headers["content-type"] == "application/x-ndjson")
        for line in json.text.split(separator: "\n") { _ = try JSONValue(parsing: String(line)) }
      }
    }
  }

  @Test("a statement in parts has each charge once, and each part knows what was left before it")
  func statementParts() async throws {
    var batch = AuditBatch()
    for n in 0..<10 {
      // Two commands at each time, and a refund between the third and the fourth.
      batch.append(
        PageSample.command(
          n / 2, device: "phone", kind: "k", event: "e", id: "c-0-\(n)-0", left: 40 - n + (n > 3 ? 5 : 0)))
    }
    try await RunningConsole.run(batch) { console in
      let whole = try console.ask("/v1/devices/phone/statement?format=csv").text.components(separatedBy: "\r\n")
      var lines: [String] = []
      var next: String? = "/v1/devices/phone/statement?limit=3&format=csv"
      var parts = 0
      while let path = next {
        let answer = try console.ask(path)
        // The parts come newest first; each has the lines of the instance, then those of the device.
        lines += answer.text.components(separatedBy: "\r\n").dropFirst().dropLast()
        next = answer.next
        parts += 1
      }
      #expect(parts == 4 && lines.sorted() == whole.dropFirst().dropLast().sorted(), "\(lines)")
      #expect(try console.ask("/v1/devices/phone/statement?limit=3").json["omitted"] == .number(7))
      #expect(try console.ask("/v1/devices/phone/statement?cursor=x").status == 400)
      #expect(try console.ask("/v1/devices/phone/statement").next == nil)
    }
  }

  @Test("Accept is weighed, and a form that the question does not have is refused")
  func accept() throws {
    let forms: [AnswerForm] = [.json, .csv, .ndjson]
    for (accept, form) in [
      (nil, .json), ("", .json), ("*/*", .json), ("text/*", .csv), ("text/csv;q=0.5, application/json;q=0.4", .csv),
      ("application/x-ndjson", .ndjson), ("text/html, */*;q=0.1", .json), ("*/*, application/json;q=0", .csv),
    ] as [(String?, AnswerForm)] {
      #expect(try AnswerForm.preferred(accept, of: forms) == form, "\(accept ?? "none")")
    }
    for accept in [
      "text/html", "application/json;q=0", "x", ",,;", "*/*;q=nan", String(repeating: "a/b,", count: 5000),
    ] {
      let problem = #expect(throws: Problem.self) { try AnswerForm.preferred(accept, of: forms) }
      #expect(problem?.kind == .notAcceptable)
    }
  }

  @Test("an export has every record once, in pieces, and a client that takes none is cut off")
  func export() async throws {
    var batch = AuditBatch()
    let name = String(repeating: "x", count: 4000)
    for n in 1...2_000 { batch.append(Sample.decision(n, event: "\(n)-\(name)", at: Sample.start)) }
    for n in 1...100 { batch.append(Sample.command(n)) }
    try await RunningConsole.run(batch) {
      $0.limits.requestSeconds = 1
    } _: { console in
      let client = try console.client()
      let answer = try client.ask("GET", "/v1/export")
      #expect(answer.headers["transfer-encoding"] == "chunked")
      let lines = answer.text.split(separator: "\n")
      #expect(lines.count == 2_100 && Set(lines).count == 2_100)
      let csv = try client.ask("GET", "/v1/export?format=csv&from=2026-11-20T14:01:30Z")
      #expect(csv.text.components(separatedBy: "\r\n").count == 1 + 11 + 1)
      let empty = try client.ask("GET", "/v1/export?format=csv&from=2027-01-01T00:00:00Z")
      #expect(empty.text.hasPrefix("record,id,at,") && empty.text.components(separatedBy: "\r\n").count == 2)
      #expect(try console.client().ask("HEAD", "/v1/export").status == 200)
      client.send("HEAD", "/v1/export")
      #expect(client.answer(isHead: true)?.status == 200 && client.isClosed)
      // Each takes the head of an export, and no more. The server ends them all, and others are answered meanwhile.
      let slow = try (0..<ExportStream.exportsMax).map { _ in
        let slow = try TestClient(console.server.address, receiveBufferBytes: 8192)
        slow.send("GET", "/v1/export")
        #expect(slow.head()?.hasPrefix("HTTP/1.1 200") == true)
        return slow
      }
      let refused = try console.ask("/v1/export")
      #expect(refused.status == 503 && refused.headers["retry-after"] == "10")
      #expect(try console.ask("/v1/summary").status == 200)
      // The buffers of the sockets hold some megabytes of the 17 of an export.
      while console.server.exportCount > 0 { sched_yield() }
      for client in slow {
        while let chunk = client.chunk() { #expect(!chunk.isEmpty, "the body is not complete") }
      }
    }
  }

  @Test("an old client, without chunks, gets an export until the end of the connection")
  func oldClient() async throws {
    try await RunningConsole.run { console in
      let client = try console.client()
      client.send("GET /v1/export HTTP/1.0\r\n\r\n")
      let head = try #require(client.head())
      #expect(head.hasPrefix("HTTP/1.") && !head.lowercased().contains("transfer-encoding"))
      var lines = 0
      while client.line() != nil { lines += 1 }
      #expect(lines == 0, "lines end with a line feed alone")
      #expect(client.rest.split(separator: 10).count == 41)
    }
  }

  @Test("without a store a question is answered with 503, and with the store as soon as there is one")
  func missing() async throws {
    try await RunningConsole.run(nil) { console in
      let client = try console.client()
      let answer = try client.ask("GET", "/v1/summary")
      #expect(answer.status == 503 && answer.headers["retry-after"] == "5")
      #expect(try client.ask("GET", "/v1/export").status == 503)
      let store = try AuditStore.open(path: console.storePath)
      try store.store(Sample.batch())
      #expect(try client.ask("GET", "/v1/summary").status == 200)
    }
  }

  @Test("cursors of any bytes are refused, and those of the console are read back")
  func cursors() {
    for place in [
      DecisionPlace(page: 1, line: 511, id: "d-0-1-0"), DecisionPlace(page: 0, line: -1, id: ""),
      DecisionPlace(page: 77, line: 3, id: Sample.hostile), DecisionPlace(page: 77, line: 3, id: "a.b.c"),
    ] {
      #expect(PageCursor.place(PageCursor.text(place)) == place)
    }
    let moment = PageCursor.Moment(at: Sample.start, seen: 3)
    #expect(PageCursor.moment(PageCursor.text(moment)) == moment)
    #expect(PageCursor.place(PageCursor.text(moment)) == nil)
    for text in ["", "?", "ZA", "ZC4x", "\u{0}", "ZC4xLi0yLg", "====", String(repeating: "A", count: 9000)] {
      #expect(PageCursor.place(text) == nil && PageCursor.moment(text) == nil, "\(text)")
    }
  }
}
