import Domain
import Foundation

/// Sorts more records than fit into memory. Each time the records in memory reach `bytesMax`, they are sorted and appended
/// to a file as one *run*; at the end all runs are merged. Memory is `bytesMax`, and while merging 64 KiB for each run.
struct SortedSpill: ~Copyable {
  /// The order of records: by group, within a group in the order of the log. Records with the same key stay in the order in
  /// which they were added.
  struct Key: Equatable {
    var group: UInt64
    var id: RecordId

    static func < (a: Key, b: Key) -> Bool { a.group == b.group ? RecordId.inLogOrder(a.id, b.id) : a.group < b.group }
  }

  /// One record in memory.
  struct Entry {
    var key: Key
    /// The place of the record's bytes in `contents`.
    var range: Range<Int>

    /// Whether `a` comes before `b`. The place keeps records with the same key in the order in which they were added.
    static func inOrder(_ a: Entry, _ b: Entry) -> Bool {
      a.key == b.key ? a.range.lowerBound < b.range.lowerBound : a.key < b.key
    }
  }

  private let bytesMax: Int
  private let directory: URL
  private var contents: [UInt8] = []
  private var entries: [Entry] = []
  private var file: RunFile?

  /// The temporary folder of the process.
  private static var defaultDirectory: URL { FileManager.default.temporaryDirectory }
  static var defaultPath: String { defaultDirectory.path }

  /// Creates an empty collection.
  /// - Parameters:
  ///   - bytesMax: bytes of records and keys to hold in memory; with 0 or less every record is written at once.
  ///   - directory: the folder for the file, which is made only if it is needed; nil is the temporary folder.
  init(bytesMax: Int, directory: URL? = nil) {
    self.bytesMax = bytesMax
    self.directory = directory ?? Self.defaultDirectory
  }

  /// The number of runs in the file.
  var runCount: Int { file?.runs.count ?? 0 }

  /// Adds a record.
  /// - Throws: `LedgerCheckError` when the file could not be written.
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

  /// Passes every record to `take`, in order.
  /// - Throws: `LedgerCheckError` when the file could not be read back, or what `take` throws.
  consuming func forEach(_ take: (Key, [UInt8]) throws(LedgerCheckError) -> Void) throws(LedgerCheckError) {
    sort()
    checkInvariants()
    guard let file else {
      for entry in entries { try take(entry.key, Array(contents[entry.range])) }
      return
    }
    var cursors: [RunCursor] = []
    for run in file.runs {
      if let cursor = try RunCursor(file, run) { cursors.append(cursor) }
    }
    // The records in memory are the newest run: of equal keys they come last.
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

  private mutating func sort() { entries.sort(by: Entry.inOrder) }

  /// Stops a debug build unless the entries name every byte in memory exactly once and the runs fill the file without gaps.
  func checkInvariants() {
    assert(
      entries.reduce(0) { $0 + $1.range.count } == contents.count, "the entries together are as long as the contents")
    assert(entries.allSatisfy { $0.range.upperBound <= contents.count }, "each entry lies in the contents")
    file?.checkInvariants()
  }
}
