import Domain
import Foundation
import GRDB
import Testing

@testable import Auditing

@Suite("The watch on the file of an open store")
struct StoreWatchTests {
  private let place: TemporaryStore
  private let store: AuditStore
  private var watch: StoreWatch
  private var now = ContinuousClock.now

  init() throws {
    place = try TemporaryStore()
    store = try AuditStore.open(path: place.path)
    watch = try StoreWatch(path: place.path, now: now)
  }

  private var file: URL { URL(filePath: place.path) }

  /// Stores some decisions and commands, and has them in the file itself.
  private func fill(_ first: Int, in store: AuditStore) throws {
    var random = SeededRandom(seed: UInt64(first))
    for n in first..<first + 20 {
      var batch = AuditBatch([Sample.anyDecision(n, using: &random)], [Sample.anyCommand(n, using: &random)])
      batch.advance(.decisions, partition: 0, past: Int64(n))
      try store.store(batch)
    }
    try store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
  }

  /// Looks at the file after half a minute.
  /// - Returns: the kind of failure; nil if there is none.
  private mutating func look() -> AuditError.Kind? {
    now += .seconds(30)
    do throws(AuditError) { try watch.look(now: now) } catch { return error.kind }
    return nil
  }

  /// Writes over the beginning of the file.
  private func overwrite(at offset: UInt64 = 0, _ bytes: Data) throws {
    let handle = try FileHandle(forWritingTo: file)
    try handle.seek(toOffset: offset)
    try handle.write(contentsOf: bytes)
  }

  @Test("a store that is used, shortened and copied is found to be the same")
  mutating func sound() throws {
    #expect(look() == nil)
    try fill(0, in: store)
    #expect(look() == nil)
    try fill(20, in: store)
    #expect(look() == nil)
    _ = try store.retain(Retention(bytesMax: 0))
    try FileManager.default.copyItem(atPath: place.path, toPath: place.path + ".copy")
    #expect(look() == nil)
    try fill(40, in: store)
    #expect(look() == nil)
  }

  @Test("it is looked at every 20 s")
  mutating func interval() throws {
    try FileManager.default.removeItem(at: file)
    now += .seconds(19)
    try watch.look(now: now)
    #expect(look() == .replaced)
  }

  @Test("a file that is moved away or replaced is noticed")
  mutating func replaced() throws {
    try fill(0, in: store)
    try FileManager.default.moveItem(atPath: place.path, toPath: place.path + ".away")
    #expect(look() == .replaced)
    _ = try AuditStore.open(path: place.path + ".new")
    try FileManager.default.moveItem(atPath: place.path + ".new", toPath: place.path)
    #expect(look() == .replaced)
  }

  @Test("a file that something else is written over is noticed", arguments: ["", "words", "4 kB", "a page of zeros"])
  mutating func overwritten(by what: String) throws {
    try fill(0, in: store)
    #expect(look() == nil)
    switch what {
    case "4 kB": try overwrite(Data(repeating: 0x5a, count: 4096))
    case "a page of zeros": try overwrite(Data(count: 4096))
    default: try Data(what.utf8).write(to: file, options: [])
    }
    #expect(look() == .overwritten)
  }

  @Test("a store over which another store, or an older copy, is written is noticed", arguments: [true, false])
  mutating func overwritten(byOlder isOlder: Bool) throws {
    try fill(0, in: store)
    var other = try Data(contentsOf: file)
    if !isOlder {
      let elsewhere = try TemporaryStore()
      let another = try AuditStore.open(path: elsewhere.path)
      for first in [100, 120, 140, 160] { try fill(first, in: another) }
      other = try Data(contentsOf: URL(filePath: elsewhere.path))
    }
    for first in [20, 40, 60] { try fill(first, in: store) }
    #expect(look() == nil)
    try overwrite(other)
    #expect(look() == .overwritten)
  }

  @Test("pages behind the first one that are damaged are noticed")
  mutating func damaged() throws {
    try fill(0, in: store)
    #expect(look() == nil)
    let size = try Data(contentsOf: file).count
    try overwrite(at: 4096, Data(repeating: 0x5a, count: size - 4096))
    #expect(look() == .corrupt)
  }
}
