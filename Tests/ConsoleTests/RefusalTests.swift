import Auditing
import Domain
import Foundation
import HTTPTesting
import Keys
import Observing
import Serving
import Testing

@testable import Console

@Suite("Refused attempts") struct RefusalTests {
  private static let start = Timestamp(microseconds: 1_700_000_000_000_000)

  /// Takes the recorded attempts, and numbers them as a store would.
  private final class Records {
    private(set) var records: [AccessRecord] = []
    var isFull = false

    struct Full: Error {}

    func write(_ refusals: [RefusedAccess]) throws -> [Int64] {
      if isFull { throw Full() }
      return refusals.map { refusal in
        guard let number = refusal.number else {
          records.append(refusal.record)
          return Int64(records.count - 1)
        }
        records[Int(number)] = refusal.record
        return number
      }
    }
  }

  private let registry = MetricRegistry()

  private func attempts() -> RefusedAttempts { RefusedAttempts(ConsoleMetrics(registry)) }

  @Test("attempts of a minute are one record with their number, and those of the next minute another")
  func minute() throws {
    let (attempts, stored) = (attempts(), Records())
    for second in 0..<90 {
      let now = Self.start + .seconds(Int64(second))
      attempts.note(.unknownKey, key: nil, operation: "signIn", status: 401, client: "10.0.0.1", at: now)
      try attempts.flush(at: now, stored.write)
    }
    #expect(stored.records.map(\.count) == [60, 30])
    #expect(stored.records.map(\.at) == [Self.start + .seconds(59), Self.start + .seconds(89)])
    #expect(stored.records[0].refused == "unknownKey" && stored.records[0].client == "10.0.0.1")
  }

  @Test("a flood from many clients is a bounded number of records, and each attempt is counted")
  func flood() throws {
    let (attempts, stored) = (attempts(), Records())
    for number in 0..<10_000 {
      attempts.note(
        .noKey, key: nil, operation: "getTimeline", status: 401, client: "10.0.\(number / 256).\(number % 256)",
        at: Self.start)
    }
    try attempts.flush(at: Self.start, stored.write)
    #expect(stored.records.count == RefusalTallies.groupsMax + 1)
    #expect(stored.records.reduce(0) { $0 + $1.count } == 10_000)
    #expect(stored.records.filter { $0.client == nil }.map(\.operation) == ["other"])
  }

  @Test("what cannot be written is written later, and counts what came meanwhile")
  func full() throws {
    let (attempts, stored) = (attempts(), Records())
    stored.isFull = true
    for minute in 0..<5 {
      let now = Self.start + .minutes(Int64(minute))
      attempts.note(.missingRole, key: "k", operation: "applyPolicy", status: 403, client: nil, at: now)
      #expect(throws: Records.Full.self) { try attempts.flush(at: now, stored.write) }
    }
    stored.isFull = false
    try attempts.flush(at: Self.start + .minutes(5), stored.write)
    #expect(stored.records.map(\.count) == [5] && stored.records[0].key == "k")
    try attempts.flush(at: Self.start + .minutes(6), stored.write)
    #expect(stored.records.count == 1)
  }

  @Test("each sort of refusal leaves a record with its reason, and no secret")
  func sorts() async throws {
    let created = Self.start
    let auditor = AccessKey.make(.auditor, created: created)
    let publisher = AccessKey.make(.publisher, created: created)
    let expired = AccessKey.make(.operator, created: created, expires: created + .hours(1))
    var file = KeyFile()
    file.keys = [auditor.key, publisher.key, expired.key]
    try await RunningConsole.run(keys: file) { console in
      func ask(_ method: String, _ path: String, _ headers: [(String, String)] = [], _ body: String = "") throws -> Int
      {
        try console.client().ask(method, path, headers, body).status
      }
      func bearer(_ secret: String) -> (String, String) { ("Authorization", "Bearer \(secret)") }
      let html = ("Accept", "text/html")
      let form = ("Content-Type", "application/x-www-form-urlencoded")
      #expect(try ask("GET", "/v1/devices/phone/timeline") == 401)
      #expect(try ask("GET", "/v1/summary", [bearer("rouse_planted")]) == 401)
      #expect(try ask("GET", "/v1/summary", [bearer(expired.secret)]) == 401)
      #expect(try ask("GET", "/v1/summary", [bearer(publisher.secret)]) == 403)
      #expect(try ask("POST", "/v1/policies/apply", [bearer(auditor.secret)], "x") == 403)
      #expect(try ask("GET", "/", [html]) == 303)
      #expect(try ask("GET", "/", [html, ("Cookie", "rouse-session=gone")]) == 303)
      #expect(try ask("POST", "/sign-in", [html, form], "key=rouse_planted") == 401)
      #expect(try ask("POST", "/sign-in", [html, form], "key=\(publisher.secret)") == 403)
      #expect(try ask("POST", "/sign-in", [html, form, ("Origin", "http://evil.example")], "key=a") == 403)
      let signedIn = try console.client().ask("POST", "/sign-in", [html, form], "key=\(auditor.secret)")
      let cookie = try #require(signedIn.headers["set-cookie"]?.split(separator: ";").first)
      #expect(try ask("POST", "/policy", [html, form, ("Cookie", String(cookie))], "policy=a") == 403)
      let path = AccessStore.path(besides: console.storePath)
      var filter = AccessFilter()
      filter.isRefused = true
      var records: [AccessRecord] = []
      // They are written within a turn of the readers.
      while records.count < 10 {
        records = (try? AccessStore.openToRead(path: path).newest(filter, limit: 100)) ?? []
      }
      let found = Set(
        records.map { "\($0.refused ?? "") \($0.operation) \($0.key ?? "none") \($0.status) \($0.count)" })
      #expect(
        found.isSuperset(of: [
          "noKey getTimeline none 401 1", "unknownKey getSummary none 401 1",
          "expiredKey getSummary \(expired.key.id) 401 1", "missingRole getSummary \(publisher.key.id) 403 1",
          "missingRole applyPolicy \(auditor.key.id) 403 1", "endedSession overviewPage none 401 1",
          "wrongFormToken policyCheckPage \(auditor.key.id) 403 1", "unknownKey signIn none 401 1",
          "missingRole signIn \(publisher.key.id) 403 1", "otherSite none none 403 1",
        ]), "\(found.sorted())")
      #expect(records.allSatisfy { $0.client == "127.0.0.1" })
      let bytes = try Data(contentsOf: URL(filePath: path)) + Data(contentsOf: URL(filePath: path + "-wal"))
      for secret in ["rouse_planted", publisher.secret, expired.secret] {
        #expect(bytes.range(of: Data(secret.utf8)) == nil)
      }
    }
  }
}
