import Domain
import Foundation
import Testing

@testable import Verification

@Suite("sorting more records than fit into memory")
struct SortedSpillTests {
  private static func key(_ group: UInt64, _ offset: Int64) -> SortedSpill.Key {
    SortedSpill.Key(group: group, id: RecordId(partition: offset % 3, offset: offset, ordinal: 0))
  }

  @Test("records are sorted with any amount of memory, and records of one key keep their order")
  func order() throws {
    // Every key twice; contents from no bytes to more than the buffer of a cursor.
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
      spill.checkInvariants()
      #expect((spill.runCount > 0) == (bytesMax < 1 << 24))
      var found: [(SortedSpill.Key, [UInt8])] = []
      try spill.forEach { (key, content) throws(LedgerCheckError) in found.append((key, content)) }
      #expect(found.elementsEqual(expected) { $0.0 == $1.0 && $0.1 == $1.1 }, "\(bytesMax)")
    }
  }

  @Test(
    "the heap of runs returns the smallest key first, and among equal keys that of the oldest run",
    arguments: [1, 2, 3] as [Int64])
  func heap(seed: Int64) {
    // Runs of different lengths with keys that repeat, from a linear congruential generator.
    var state = seed
    func next(below bound: Int64) -> Int64 {
      state = (state &* 1_103_515_245 &+ 12_345) & 0x7FFF_FFFF
      return (state >> 8) % bound
    }
    var runs = (0..<20).map { _ in
      (0...next(below: 30)).map { _ in Self.key(UInt64(next(below: 5)), next(below: 9)) }.sorted { $0 < $1 }
    }
    var expected: [RunHeap.Head] = []
    for (run, keys) in runs.enumerated() { expected += keys.map { RunHeap.Head(key: $0, run: run) } }
    expected.sort { $0.key == $1.key ? $0.run < $1.run : $0.key < $1.key }
    var heap = RunHeap(runs.compactMap(\.first))
    for index in runs.indices { runs[index].removeFirst() }
    var found: [RunHeap.Head] = []
    while let first = heap.first {
      heap.checkInvariants()
      found.append(first)
      heap.replaceFirst(with: runs[first.run].isEmpty ? nil : runs[first.run].removeFirst())
    }
    #expect(found == expected, "seed \(seed)")
  }

  @Test("no file stays in the folder, and the error for a missing folder names it")
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
    // Records come by partition, then by offset. Their contents count down as offsets rise.
    #expect(found == [9, 6, 3, 0, 8, 5, 2, 7, 4, 1])
  }
}
