import Foundation
import Observing
import Testing

@testable import Pipeline

@Suite("Metrics of local storage") struct StorageMetricsTests {
  private func exposition(_ counters: PipelineCounters) -> [Substring] {
    String(decoding: Exposition.bytes(of: counters.registry, as: ExpositionFormat(accept: nil)), as: UTF8.self)
      .split(separator: "\n").filter { $0.hasPrefix("rouse_storage_") || $0.hasPrefix("rouse_audit_store_bytes") }
  }

  @Test("the room of the file systems and the size of the store are read when they are asked for")
  func shown() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rouse-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = folder.appendingPathComponent("audit.sqlite")
    let counters = PipelineCounters()
    #expect(exposition(counters) == [])
    // Neither exists yet: the room is that of the parent, and there is no size.
    counters.set(storage: StoragePlaces(store: store.path, snapshots: folder.appendingPathComponent("s").path))
    let names = exposition(counters).map { $0.prefix { $0 != " " } }
    #expect(
      names == [
        #"rouse_storage_free_bytes{storage="audit"}"#, #"rouse_storage_free_bytes{storage="snapshots"}"#,
        #"rouse_storage_size_bytes{storage="audit"}"#, #"rouse_storage_size_bytes{storage="snapshots"}"#,
      ])
    counters.set(storage: StoragePlaces(devices: store.path, access: store.path + ".access"))
    #expect(
      exposition(counters).map { $0.prefix { $0 != " " } } == [
        #"rouse_storage_free_bytes{storage="access"}"#, #"rouse_storage_free_bytes{storage="devices"}"#,
        #"rouse_storage_size_bytes{storage="access"}"#, #"rouse_storage_size_bytes{storage="devices"}"#,
      ])
    counters.set(storage: StoragePlaces(store: store.path))
    try Data(count: 1000).write(to: store)
    try Data(count: 24).write(to: URL(fileURLWithPath: store.path + "-wal"))
    #expect(exposition(counters).last == "rouse_audit_store_bytes 1024")
  }

  @Test("the free bytes of a file system are at most its size, and a place that is nowhere has none")
  func room() throws {
    let room = try #require(FileSystemRoom(of: "/"))
    #expect(room.freeBytes >= 0 && room.freeBytes <= room.totalBytes && room.totalBytes > 0)
    #expect(FileSystemRoom(of: "/nowhere/at/all") == nil)
    #expect(FileSystemRoom.databaseBytes("/nowhere/at/all") == nil)
  }
}
