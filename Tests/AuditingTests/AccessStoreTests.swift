import Domain
import Foundation
import GRDB
import Testing

@testable import Auditing

@Suite("Access store") struct AccessStoreTests {
  private static func record(_ n: Int, device: Identifier? = nil, at: Timestamp? = nil) -> AccessRecord {
    AccessRecord(
      at: at ?? Sample.start + .seconds(Int64(n)), key: n % 2 == 0 ? "key" : nil, operation: "getTimeline",
      device: device,
      event: n % 3 == 0 ? "e" : nil, subject: "x\0'\(n)", status: 200, client: "::1")
  }

  @Test("records are listed newest first, by every property, and come back as they were")
  func list() throws {
    let temporary = try TemporaryStore()
    let path = AccessStore.path(besides: temporary.path)
    let store = try AccessStore.open(path: path)
    let records = (1...12).map { Self.record($0, device: $0 > 6 ? "late" : "early\0\u{202e}") }
    for record in records { try store.write(record) }
    let reader = try AccessStore.openToRead(path: path)
    #expect(try reader.newest(limit: 100) == records.reversed())
    #expect(try reader.newest(limit: 2) == records.reversed().prefix(2).map(\.self))
    var filter = AccessFilter()
    filter.device = "early\0\u{202e}"
    filter.key = "key"
    #expect(try reader.newest(filter, limit: 100) == [6, 4, 2].map { records[$0 - 1] })
    filter = AccessFilter()
    filter.event = "e"
    filter.range = TimeRange(from: records[5].at, to: records[11].at)
    #expect(try reader.newest(filter, limit: 100) == [9, 6].map { records[$0 - 1] })
    filter.operation = "export"
    #expect(try reader.newest(filter, limit: 100).isEmpty)
    #expect(throws: AuditError.self) { try reader.write(records[0]) }
  }

  @Test("parts lead from record to record, whatever is written meanwhile", arguments: [1, 2, 3, 7, 8, 100])
  func parts(limit: Int) throws {
    let temporary = try TemporaryStore()
    let store = try AccessStore.open(path: temporary.path + ".access")
    for n in [1, 2, 5, 6] { try store.write(Self.record(n)) }
    _ = try store.write([3, 4, 7].map { Self.refusal($0) })
    var (place, found, parts): (AccessPlace?, [AccessRecord], Int) = (nil, [], 0)
    let all = try store.newest(limit: 100)
    repeat {
      let part = try store.part(AccessFilter(), after: place, limit: limit)
      found += part.records
      (place, parts) = (part.next, parts + 1)
      try store.write(Self.record(10 + parts))
      _ = try store.write([Self.refusal(10 + parts)])
    } while place != nil && parts < 20
    #expect(found == all && all.count == 7)
    #expect(parts == (7 + limit - 1) / limit)
  }

  @Test("records beyond the number or the age are removed, the oldest first")
  func limits() throws {
    let temporary = try TemporaryStore()
    let few = AccessStore.RecordLimits(ageMax: .hours(1), recordsMax: 50)
    let path = temporary.path + ".access"
    let store = try AccessStore.open(path: path, retention: few)
    for n in 1...60 { try store.write(Self.record(n)) }
    // Another process begins, and removes with its first record.
    try AccessStore.open(path: path, retention: few).write(Self.record(61))
    #expect(try store.newest(limit: 100).map(\.at) == (12...61).reversed().map { Sample.start + .seconds(Int64($0)) })
    try AccessStore.open(path: path, retention: few).write(Self.record(62, at: Sample.start + .seconds(3630)))
    #expect(try store.newest(limit: 100).count == 33)
  }

  private static func refusal(_ n: Int, count: Int = 1, number: Int64? = nil) -> RefusedAccess {
    var record = AccessRecord(
      at: Sample.start + .seconds(Int64(n)), key: nil, operation: "signIn", status: 401, client: "::\(n)")
    (record.refused, record.count) = ("unknownKey", count)
    return RefusedAccess(record: record, number: number)
  }

  @Test("refused attempts are listed among the others by time, grow in place, and take no room from them")
  func refusals() throws {
    let temporary = try TemporaryStore()
    let path = temporary.path + ".access"
    let store = try AccessStore.open(path: path, retention: AccessStore.RecordLimits(recordsMax: 1000))
    for n in [2, 4, 6] { try store.write(Self.record(n, device: "d")) }
    let numbers = try store.write([Self.refusal(1), Self.refusal(3)])
    #expect(try store.write([Self.refusal(5, count: 7, number: numbers[1])]) == [numbers[1]])
    let reader = try AccessStore.openToRead(path: path)
    #expect(
      try reader.newest(limit: 9).map { "\($0.at - Sample.start == .seconds(5)) \($0.status) \($0.count)" } == [
        "false 200 1", "true 401 7", "false 200 1", "false 200 1", "false 401 1",
      ])
    #expect(try reader.newest(limit: 2).map(\.status) == [200, 401])
    var filter = AccessFilter()
    filter.isRefused = true
    #expect(try reader.newest(filter, limit: 9).map(\.refused) == ["unknownKey", "unknownKey"])
    filter.isRefused = nil
    filter.device = "d"
    #expect(try reader.newest(filter, limit: 9).map(\.status) == [200, 200, 200])
    _ = try store.write((10..<500).map { Self.refusal($0) })
    filter = AccessFilter()
    filter.isRefused = true
    #expect(try reader.newest(filter, limit: 1000).count == 100)
    filter.isRefused = false
    #expect(try reader.newest(filter, limit: 1000).count == 3)
  }

  @Test("a file from before refused attempts were recorded is read, and gets its table when it is written to")
  func older() throws {
    let temporary = try TemporaryStore()
    let path = temporary.path + ".access"
    try AccessStore.open(path: path).write(Self.record(1))
    let database = try DatabaseQueue(path: path)
    try database.write { try $0.execute(sql: "DROP TABLE refusals") }
    try database.close()
    #expect(try AccessStore.openToRead(path: path).newest(limit: 9).count == 1)
    let store = try AccessStore.open(path: path)
    _ = try store.write([Self.refusal(2)])
    #expect(try AccessStore.openToRead(path: path).newest(limit: 9).map(\.status) == [401, 200])
  }

  @Test("another file is refused, and so is a missing one for reading")
  func foreign() throws {
    let temporary = try TemporaryStore()
    let audit = try AuditStore.open(path: temporary.path)
    try audit.store(AuditBatch([Sample.decision(1)], []))
    let mistaken = #expect(throws: AuditError.self) { try AccessStore.open(path: temporary.path) }
    #expect(mistaken?.kind == .notAStore)
    #expect(throws: AuditError.self) { try AccessStore.openToRead(path: temporary.path + ".access") }
    #expect(throws: AuditError.self) { try AccessStore.open(path: temporary.folder.path + "/none/x.access") }
  }
}
