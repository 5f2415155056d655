import Auditing
import Domain
import Foundation
import HTTPTesting
import JSON
import Keys
import Logging
import Observing
import Serving
import Synchronization
import Testing

@testable import Console

@Suite("Readers and files of the console") struct ServiceTests {
  private static let time = Timestamp(microseconds: 1_700_000_000_000_000)

  /// Gives requests to a service, and keeps the answers that came at once.
  private final class Asker: Sendable {
    private let service: ConsoleService
    private let answers = Mutex<[Int]>([])

    init(_ service: ConsoleService) { self.service = service }

    /// Returns the status of the answer, if it came at once.
    func status(_ address: String, _ headers: [(String, String)] = []) -> Int? {
      answers.withLock { $0 = [] }
      switch service.admit(HTTPHead(address, headers)) {
      case .refused(let answer): return answer.status
      case .taken(let operation): operation([]) { answer in self.answers.withLock { $0.append(answer.status) } }
      }
      return answers.withLock { $0.first }
    }
  }

  @Test("requests without a key fill a queue of their own, and none of those who have a key")
  func queues() throws {
    let auditor = AccessKey.make(.auditor, created: Self.time)
    var file = KeyFile()
    file.keys = [auditor.key]
    var (folder, settings) = try RunningConsole.place(Sample.batch())
    defer { try? FileManager.default.removeItem(at: folder) }
    settings.waitingMax = 2
    let path = folder.appending(path: "keys.json").path
    try file.write(to: path)
    let access = Authenticator(keys: try KeyRing(path: path, recordsPerSecond: nil, logger: RunningConsole.silent))
    // No thread takes a request, so each one that is admitted waits.
    let readers = (0..<4).map { _ in
      StoreReaders(settings, threads: 0) { _ in
        preconditionFailure("there are no threads")
      } turn: { _ in
      }
    }
    let metrics = ConsoleMetrics(MetricRegistry())
    let asker = Asker(
      ConsoleService(
        settings, access: access, ConsoleSessions(access), readers[0], readers[1], readers[2], readers[3],
        RefusedAttempts(metrics),
        metrics,
        now: { Self.time }))
    for address in [SignInPage.path, PageAsset.script.path] { #expect(asker.status(address) == nil) }
    #expect(asker.status(SignInPage.path) == 503)
    #expect(asker.status("/v1/summary", [("authorization", "Bearer \(auditor.secret)")]) == nil)
    #expect(asker.status("/v1/summary") == 401)
  }

  @Test("a key that is revoked works no longer, also while every reader is busy")
  func revoked() async throws {
    let auditor = AccessKey.make(.auditor, created: Self.time)
    var file = KeyFile()
    file.keys = [auditor.key]
    let key = ("Authorization", "Bearer \(auditor.secret)")
    try await RunningConsole.run(keys: file) {
      // As if each reader were at a long question.
      ($0.readers, $0.waitingMax) = (0, 0)
    } _: { console in
      let first = try console.ask("/v1/summary", [key])
      #expect(first.status == 503)
      var revoked = auditor.key
      revoked.revoked = Self.time
      var file = KeyFile()
      file.keys = [revoked]
      try file.write(to: URL(filePath: console.storePath).deletingLastPathComponent().appending(path: "keys.json").path)
      try Self.soon { try console.ask("/v1/summary", [key]).status == 401 }
    }
  }

  @Test("a store that is moved away is read no longer, and the one in its place is; so it is with access records")
  func replaced() async throws {
    try await RunningConsole.run { console in
      let path = console.storePath
      #expect(try console.ask("/v1/devices/phone/timeline").json["entries"]?.elements.isEmpty == false)
      for suffix in ["", "-wal", "-shm", ".key", ".access", ".access-wal", ".access-shm"]
      where FileManager.default.fileExists(atPath: path + suffix) {
        try FileManager.default.moveItem(atPath: path + suffix, toPath: path + ".old" + suffix)
      }
      try Self.soon { try console.ask("/v1/summary").status == 503 }
      let store = try AuditStore.open(path: path)
      var batch = AuditBatch()
      batch.append(Sample.decision(1, device: "other"))
      try store.store(batch)
      try store.close()
      try Self.soon { try console.ask("/v1/decisions?device=other").json["decisions"]?.elements.count == 1 }
      // Each reader looks once a second, so the next one may still have the old files.
      try Self.soon {
        let answer = try console.ask("/v1/decisions?device=phone")
        // There is none before the first look is recorded in it.
        let records = (try? AccessStore.openToRead(path: AccessStore.path(besides: path)).newest(limit: 100)) ?? []
        #expect(!records.contains { $0.operation == "getTimeline" })
        return try answer.json["decisions"]?.elements.isEmpty == true && records.contains { $0.device == "phone" }
      }
    }
  }

  @Test("clients that follow the decisions are sent away when the store is another one")
  func followed() async throws {
    try await RunningConsole.run { console in
      let client = try console.client()
      client.send("GET", "/v1/decisions/tail")
      _ = client.head()
      try FileManager.default.moveItem(atPath: console.storePath, toPath: console.storePath + ".old")
      var text = ""
      while let chunk = client.chunk(), !chunk.isEmpty { text += String(decoding: chunk, as: UTF8.self) }
      #expect(text.contains("another one; come back") || text.contains("cannot be read"))
    }
  }

  /// Waits until something is so, for a minute at most.
  static func soon(_ isSo: () throws -> Bool) throws {
    let began = ContinuousClock.now
    while try !isSo() {
      try #require(ContinuousClock.now - began < .seconds(60))
      sched_yield()
    }
  }
}
