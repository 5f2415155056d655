import Domain
import Foundation
import Testing

@testable import Verification

@Suite("sorting more than memory holds")
struct SortedSpillTests {
  private static func key(_ group: UInt64, _ offset: Int64) -> SortedSpill.Key {
    SortedSpill.Key(group: group, id: RecordId(partition: offset % 3, offset: offset, ordinal: 0))
  }

  @Test("records come in order whatever the memory, and records of one key as they were added")
  func order() throws {
    // Every key twice; contents from nothing to more than the buffer of a run.
    let records = (0..<900).map { i in
      let key = Self.key(UInt64(i * 37 % 9), Int64(i * 101 % 450))
      return (key, [UInt8](repeating: UInt8(i % 251), count: i == 450 ? 200_000 : i * 13 % 90))
    }
    let expected = records.enumerated().sorted {
      $0.element.0 == $1.element.0 ? $0.offset < $1.offset : $0.element.0 < $1.element.0
    }.map(\.element)
    for bytesMax in [1, 500, 4_000, 60_000, 1 << 24] {
      var spill = SortedSpill(bytesMax: bytesMax)
      for (key, content) in records { try spill.add(key, content) }
      #expect((spill.runCount > 0) == (bytesMax < 1 << 24))
      var found: [(SortedSpill.Key, [UInt8])] = []
      try spill.forEach { (key, content) throws(LedgerCheckError) in found.append((key, content)) }
      #expect(found.elementsEqual(expected) { $0.0 == $1.0 && $0.1 == $1.1 }, "\(bytesMax)")
    }
  }

  @Test("nothing stays in the folder, and a folder that is not there is named")
  func folder() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("spill-\(UUID().uuidString)")
    var lost = SortedSpill(bytesMax: 1, directory: folder)
    do {
      try lost.add(Self.key(1, 1), [1])
      Issue.record("wrote to a folder that is not there")
    } catch {
      #expect("\(error)".hasPrefix("a temporary file in \(folder.path): "))
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var spill = SortedSpill(bytesMax: 1, directory: folder)
    for i in 0..<10 { try spill.add(Self.key(1, Int64(9 - i)), [UInt8(i)]) }
    #expect(spill.runCount == 10)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    var found: [UInt8] = []
    try spill.forEach { (_, content) throws(LedgerCheckError) in found += content }
    // By partition, then offset; contents count the other way.
    #expect(found == [9, 6, 3, 0, 8, 5, 2, 7, 4, 1])
  }
}
