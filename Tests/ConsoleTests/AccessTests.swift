import Auditing
import Domain
import Foundation
import HTTPTesting
import JSON
import Keys
import Serving
import Testing

@testable import Console

@Suite("Access records") struct AccessTests {
  private static let time = Timestamp(microseconds: 1_700_000_000_000_000)

  @Test(
    "each look at devices is recorded before its answer, with key, operation, device, event and address; totals are not"
  )
  func records() async throws {
    let auditor = AccessKey.make(.auditor, created: Self.time)
    var file = KeyFile()
    file.keys = [auditor.key]
    try await RunningConsole.run(keys: file) { console in
      let key = ("Authorization", "Bearer \(auditor.secret)")
      let hostile = PageLink.escaped(Sample.hostile.text)
      for path in [
        "/v1/devices/\(hostile)/timeline", "/v1/why?device=phone&event=e0", "/v1/decisions/d-0-9999-0",
        "/v1/decisions?limit=0",
        "/v1/commands/c-0-30-0", "/v1/export",
      ] {
        _ = try console.ask(path, [key])
      }
      #expect(try console.ask("/v1/devices/phone/timeline").status == 401)
      for path in ["/v1/summary", "/v1/top", "/v1/health"] { #expect(try console.ask(path, [key]).status == 200) }
      var filter = AccessFilter()
      filter.isRefused = false
      let records = try AccessStore.openToRead(path: AccessStore.path(besides: console.storePath))
        .newest(filter, limit: 100)
      #expect(
        records.reversed().map { [$0.operation, $0.device, $0.event, $0.subject, Identifier("\($0.status)")] } == [
          ["getTimeline", Sample.hostile, nil, nil, "200"], ["getWhy", "phone", "e0", nil, "200"],
          ["getDecision", nil, nil, "d-0-9999-0", "404"], ["listDecisions", nil, nil, nil, "400"],
          ["getCommand", nil, nil, "c-0-30-0", "200"], ["export", nil, nil, nil, "200"],
        ])
      #expect(records.allSatisfy { $0.key == Identifier(auditor.key.id) && $0.client == "127.0.0.1" })
      let attributes = try FileManager.default.attributesOfItem(atPath: console.storePath + ".access")
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test("operators see the records of a gateway on the same machine, beside those of the console")
  func ofGateway() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "gateway.access").path
    let record = AccessRecord(
      at: Self.time, key: "k1", operation: "deleteDevice", device: Sample.hostile, event: nil, subject: nil,
      status: 202,
      client: "10.0.0.1")
    try AccessStore.open(path: path).write(record)
    try await RunningConsole.run(nil) {
      $0.gatewayAccessPath = path
    } _: { console in
      let own = try console.ask("/v1/access").json["records"]?.elements ?? []
      #expect(own.isEmpty)
      let records = try console.ask("/v1/access?of=gateway").json["records"]?.elements ?? []
      #expect(records.map { $0["operation"] } == [.string("deleteDevice")])
      #expect(records[0]["device"]?.text == Sample.hostile.text)
      let page = try console.client().ask("GET", "/access?of=gateway", [("Accept", "text/html")]).text
      #expect(PageCheck(page).text.contains("deleteDevice") && PageCheck(page).mistakes.isEmpty)
      let links = PageCheck(try console.client().ask("GET", "/access", [("Accept", "text/html")]).text).links
      #expect(links.contains { $0.address == "/access?of=gateway" })
      #expect(try console.ask("/v1/access?of=nobody").status == 400)
    }
  }

  @Test("operators ask for the records over HTTP, in parts, and each answer leaves a record")
  func asked() async throws {
    let auditor = AccessKey.make(.auditor, created: Self.time)
    let boss = AccessKey.make(.operator, created: Self.time)
    var file = KeyFile()
    file.keys = [auditor.key, boss.key]
    try await RunningConsole.run(keys: file) { console in
      let (key, bossKey) = (
        ("Authorization", "Bearer \(auditor.secret)"), ("Authorization", "Bearer \(boss.secret)")
      )
      for device in ["a", "b", "a"] { _ = try console.ask("/v1/devices/\(device)/timeline", [key]) }
      #expect(try console.ask("/v1/access", [key]).status == 403)
      let first = try console.ask("/v1/access?device=a&limit=1", [bossKey])
      #expect(try first.json["records"]?.elements.count == 1)
      let next = try console.ask(try #require(first.next), [bossKey])
      #expect(next.next == nil, "the second of two")
      #expect(try first.json["records"]?[0]?["at"] != next.json["records"]?[0]?["at"])
      let answer = try console.ask("/v1/access?operation=listAccess&refused=false", [bossKey])
      let own = try answer.json["records"]?.elements ?? []
      #expect(own.count == 2 && own.allSatisfy { $0["device"] == .string("a") && $0["key"] == .string(boss.key.id) })
      let csv = try console.ask("/v1/access?key=\(auditor.key.id)&refused=false&format=csv", [bossKey])
      #expect(csv.text.split(separator: "\r\n").count == 4, "\(csv.text)")
      for path in ["/v1/access?cursor=x", "/v1/access?refused=maybe", "/v1/access?devcie=a"] {
        #expect(try console.ask(path, [bossKey]).status == 400)
      }
      let page = try console.ask("/access?device=a&refused=", [bossKey, ("Accept", "text/html")])
      #expect(page.status == 200 && page.text.contains("getTimeline") && page.text.contains(auditor.key.id))
      #expect(try console.ask("/access", [key, ("Accept", "text/html")]).status == 403)
      let end = PageCursor.text(AccessPlace(access: 0, refusal: 0))
      #expect(try console.ask("/v1/access?cursor=\(end)", [bossKey]).json["records"]?.elements.isEmpty == true)
    }
  }

  @Test("a page records the id that it shows, wherever the address has it, and no id that it does not use")
  func pages() async throws {
    var batch = Sample.batch()
    batch.append(Sample.start(200, device: "tablet"))
    // The store ends an hour later, so the start is not too new to tell.
    batch.append(Sample.command(3800))
    try await RunningConsole.run(batch) { console in
      let looks: [(path: String, record: [Identifier?])] = [
        ("/devices/phone", ["devicePage", "phone", nil, nil]),
        ("/devices?id=phone", ["devicePageById", "phone", nil, nil]),
        ("/events?id=e1", ["eventPageById", nil, "e1", nil]),
        ("/commands?id=c-0-30-0", ["commandPageById", nil, nil, "c-0-30-0"]),
        // A name that the page does not use is refused, so nothing is shown of what it names.
        ("/devices/phone?event=e1", ["devicePage", "phone", nil, nil]),
        ("/decisions?id=d-0-7-0&device=phone", ["decisionsPage", nil, nil, "d-0-7-0"]),
        ("/decisions?device=phone&event=e1", ["decisionsPage", "phone", "e1", nil]),
        ("/why?device=phone&event=e1", ["whyPage", "phone", "e1", nil]),
        ("/search?q=pho", ["searchPage", nil, nil, "pho"]),
        ("/top?by=device", ["topPage", nil, nil, nil]),
        ("/v1/top?by=device", ["getTop", nil, nil, nil]),
        ("/v1/decisions?command=c-0-30-0&device=phone", ["listDecisions", "phone", nil, "c-0-30-0"]),
        ("/v1/devices/phone/timeline", ["getTimeline", "phone", nil, nil]),
        ("/health", ["healthPage", nil, nil, nil]),
      ]
      for (path, _) in looks {
        let status = try console.ask(path).status
        #expect(path.contains("phone?event") ? status == 400 : status == 200 || status == 303, "\(path)")
      }
      for path in ["/top?by=kind", "/", "/policy", "/v1/top?by=kind"] { _ = try console.ask(path) }
      let records = try AccessStore.openToRead(path: AccessStore.path(besides: console.storePath)).newest(limit: 100)
      let found = Array(records.reversed())
      #expect(found.count == looks.count)
      for (record, look) in zip(found, looks) {
        #expect([record.operation, record.device, record.event, record.subject] == look.record, "\(look.path)")
      }
    }
  }

  @Test("a health page that names no device is no look at one")
  func health() async throws {
    try await RunningConsole.run { console in
      let answer = try console.ask("/health")
      #expect(answer.status == 200)
      #expect(!FileManager.default.fileExists(atPath: AccessStore.path(besides: console.storePath)))
    }
  }

  @Test("a browser whose upload is too large gets a page, and everybody else a problem in JSON")
  func tooLarge() async throws {
    try await RunningConsole.run { console in
      for (form, path, type) in [
        ("text/html", "/try", "text/html; charset=utf-8"),
        ("text/html", "/v1/policies/check", "application/problem+json"),
        ("*/*", "/try", "application/problem+json"),
      ] {
        let client = try console.client()
        client.send("POST", path, [("Accept", form), ("Content-Length", "2000000000")])
        let answer = try #require(client.answer())
        #expect(answer.status == 413 && answer.headers["content-type"] == type, "\(path) \(answer.headers)")
      }
    }
  }

  @Test("what cannot be recorded is not shown")
  func refused() async throws {
    try await RunningConsole.run { console in
      try Data("this is no database".utf8).write(to: URL(filePath: console.storePath + ".access"))
      for path in ["/v1/devices/phone/timeline", "/v1/export", "/v1/decisions/tail"] {
        let answer = try console.ask(path)
        #expect(answer.status == 503 && answer.text.contains("nothing is shown"), "\(path): \(answer.text)")
        #expect(!answer.text.contains("d-0-"))
      }
      let page = try console.ask("/devices/phone", [("Accept", "text/html")])
      #expect(page.status == 503 && page.headers["content-type"]?.hasPrefix("text/html") == true)
      #expect(page.text.contains("nothing is shown") && !page.text.contains("d-0-"), "\(page.text)")
      #expect(console.server.exportCount == 0)
      while console.server.tailCount > 0 { sched_yield() }
      #expect(try console.ask("/v1/summary").status == 200)
      try FileManager.default.removeItem(atPath: console.storePath + ".access")
      #expect(try console.ask("/v1/devices/phone/timeline").status == 200)
    }
  }
}
