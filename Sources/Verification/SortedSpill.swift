import Domain
import Foundation

/// Sorts more records than memory holds: what is more than `bytesMax` is sorted and goes to a file without a name, and
/// all of it is merged at the end. Memory is `bytesMax` and, while merging, 64 KiB for each `bytesMax` that was added.
struct SortedSpill: ~Copyable {
  /// Records of one group come together, in the order of the log; records of one key in the order they were added.
  struct Key: Equatable {
    var group: UInt64
    var id: RecordId

    static func < (a: Key, b: Key) -> Bool { a.group == b.group ? RecordId.inLogOrder(a.id, b.id) : a.group < b.group }
  }

  fileprivate struct Entry {
    var key: Key
    /// Its place in the contents.
    var range: Range<Int>
  }

  private let bytesMax: Int
  private let directory: URL
  private var contents: [UInt8] = []
  private var entries: [Entry] = []
  private var file: RunFile?

  init(bytesMax: Int, directory: URL = FileManager.default.temporaryDirectory) {
    self.bytesMax = bytesMax
    self.directory = directory
  }

  /// How many runs are in the file.
  var runCount: Int { file?.runs.count ?? 0 }

  mutating func add(_ key: Key, _ content: [UInt8]) throws(LedgerCheckError) {
    entries.append(Entry(key: key, range: contents.count..<contents.count + content.count))
    contents += content
    guard contents.count + entries.count * MemoryLayout<Entry>.stride >= bytesMax else { return }
    sort()
    if file == nil { file = try RunFile(directory: directory) }
    try file?.append(entries, contents)
    entries.removeAll(keepingCapacity: true)
    contents.removeAll(keepingCapacity: true)
  }

  /// Hands out every record, in order.
  consuming func forEach(_ take: (Key, [UInt8]) throws(LedgerCheckError) -> Void) throws(LedgerCheckError) {
    sort()
    guard let file else {
      for entry in entries { try take(entry.key, Array(contents[entry.range])) }
      return
    }
    var cursors: [RunCursor] = []
    for run in file.runs {
      if let cursor = try RunCursor(file, run) { cursors.append(cursor) }
    }
    // What is still in memory is the newest run.
    var rest = 0
    var heap = RunHeap(cursors.map(\.key))
    while let first = heap.first {
      while rest < entries.count, entries[rest].key < first.key {
        try take(entries[rest].key, Array(contents[entries[rest].range]))
        rest += 1
      }
      try take(first.key, cursors[first.run].content)
      heap.replaceFirst(with: try cursors[first.run].advance(file) ? cursors[first.run].key : nil)
    }
    for entry in entries[rest...] { try take(entry.key, Array(contents[entry.range])) }
  }

  private mutating func sort() {
    // The place keeps the order of what has the same key.
    entries.sort { $0.key == $1.key ? $0.range.lowerBound < $1.range.lowerBound : $0.key < $1.key }
  }
}

/// The runs' file. It is removed from its folder as soon as it is open, so nothing stays behind, whatever happens.
private struct RunFile {
  private let handle: FileHandle
  private let path: String
  private(set) var runs: [Range<UInt64>] = []

  private static let bufferBytes = 1 << 20

  init(directory: URL) throws(LedgerCheckError) {
    let url = directory.appendingPathComponent("rouse-verify-\(UUID().uuidString)")
    path = directory.path
    do {
      try Data().write(to: url, options: .withoutOverwriting)
      handle = try FileHandle(forUpdating: url)
      try FileManager.default.removeItem(at: url)
    } catch {
      throw LedgerCheckError(path: path, reason: (error as NSError).localizedDescription)
    }
  }

  /// Appends a run of sorted records.
  mutating func append(_ entries: [SortedSpill.Entry], _ contents: [UInt8]) throws(LedgerCheckError) {
    let start = runs.last?.upperBound ?? 0
    var end = start
    var buffer = BinaryWriter()
    for (number, entry) in entries.enumerated() {
      buffer.varint(entry.key.group)
      for number in [entry.key.id.partition, entry.key.id.offset, entry.key.id.ordinal] { buffer.zigzag(number) }
      buffer.blob(Array(contents[entry.range]))
      guard buffer.bytes.count >= Self.bufferBytes || number == entries.count - 1 else { continue }
      do {
        try handle.write(contentsOf: Data(buffer.bytes))
      } catch {
        throw LedgerCheckError(path: path, reason: (error as NSError).localizedDescription)
      }
      end += UInt64(buffer.bytes.count)
      buffer.reset()
    }
    runs.append(start..<end)
  }

  /// At most `count` bytes; fewer only at the end of the file.
  func read(_ count: Int, at offset: UInt64) throws(LedgerCheckError) -> Data {
    do {
      try handle.seek(toOffset: offset)
      return try handle.read(upToCount: count) ?? Data()
    } catch {
      throw LedgerCheckError(path: path, reason: (error as NSError).localizedDescription)
    }
  }

  func damaged() -> LedgerCheckError {
    LedgerCheckError(path: path, reason: "what was written there reads differently")
  }
}

/// Where the merge is in one run.
private struct RunCursor {
  private(set) var key = SortedSpill.Key(group: 0, id: RecordId(partition: 0, offset: 0, ordinal: 0))
  private(set) var content: [UInt8] = []
  private var buffer: [UInt8] = []
  private var used = 0
  private var unread: Range<UInt64>

  private static let bufferBytes = 1 << 16

  /// Nil for a run without records.
  init?(_ file: RunFile, _ run: Range<UInt64>) throws(LedgerCheckError) {
    unread = run
    guard try advance(file) else { return nil }
  }

  /// Goes to the next record; false at the end.
  mutating func advance(_ file: RunFile) throws(LedgerCheckError) -> Bool {
    while true {
      if used < buffer.count, take() { return true }
      guard !unread.isEmpty else {
        if used < buffer.count { throw file.damaged() }
        return false
      }
      buffer.removeFirst(used)
      used = 0
      // A record that is larger than the buffer makes it grow.
      let data = try file.read(min(max(Self.bufferBytes, buffer.count), unread.count), at: unread.lowerBound)
      guard !data.isEmpty else { throw file.damaged() }
      buffer += data
      unread = unread.lowerBound + UInt64(data.count)..<unread.upperBound
    }
  }

  /// Reads a record, if the buffer holds all of it.
  private mutating func take() -> Bool {
    var reader = BinaryReader(buffer, in: used..<buffer.count)
    do {
      let group = try reader.varint()
      let id = RecordId(partition: try reader.zigzag(), offset: try reader.zigzag(), ordinal: try reader.zigzag())
      content = try reader.blob()
      key = SortedSpill.Key(group: group, id: id)
    } catch { return false }
    used += reader.offset
    return true
  }
}

/// The runs by their next key; of equal keys the older run's comes first.
private struct RunHeap {
  struct Head {
    var key: SortedSpill.Key
    var run: Int
  }
  private var heads: [Head] = []

  init(_ keys: [SortedSpill.Key]) {
    // A sorted list is a heap.
    heads = keys.enumerated().map { Head(key: $0.element, run: $0.offset) }.sorted(by: Self.inOrder)
  }

  var first: Head? { heads.first }

  /// - Parameter key: the next of the first run; nil where it has ended.
  mutating func replaceFirst(with key: SortedSpill.Key?) {
    if let key {
      heads[0].key = key
    } else {
      heads[0] = heads[heads.count - 1]
      heads.removeLast()
    }
    var parent = 0
    while 2 * parent + 1 < heads.count {
      var child = 2 * parent + 1
      if child + 1 < heads.count, Self.inOrder(heads[child + 1], heads[child]) { child += 1 }
      guard Self.inOrder(heads[child], heads[parent]) else { return }
      heads.swapAt(child, parent)
      parent = child
    }
  }

  private static func inOrder(_ a: Head, _ b: Head) -> Bool { a.key == b.key ? a.run < b.run : a.key < b.key }
}

/// Why a check could not be done: the disk that holds what does not fit into memory.
public struct LedgerCheckError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The folder of the file.
  public var path: String
  public var reason: String

  public var description: String {
    "a temporary file in \(path): \(reason); make room there, or name another folder in the environment variable TMPDIR"
  }
}
