import Domain
import Foundation

/// The file of a `SortedSpill`: runs of sorted records, one after the other. It is removed from its folder as soon as it is
/// open, so that no file is left, however the process ends.
struct RunFile {
  private let handle: FileHandle
  private let path: String
  /// The place of each run in the file, in bytes; the oldest run first.
  private(set) var runs: [Range<UInt64>] = []

  /// The number of bytes after which collected records are written.
  private static let bufferBytes = 1 << 20

  /// Creates an empty file.
  /// - Throws: `LedgerCheckError` when the folder is missing or may not be written.
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

  /// Appends a run.
  /// - Parameters:
  ///   - entries: the records, sorted.
  ///   - contents: the bytes of the records; each entry has the range of its own.
  /// - Throws: `LedgerCheckError` when the disk is full or fails.
  mutating func append(_ entries: [SortedSpill.Entry], _ contents: [UInt8]) throws(LedgerCheckError) {
    let start = runs.last?.upperBound ?? 0
    var end = start
    var buffer = BinaryWriter()
    for (number, entry) in entries.enumerated() {
      var key = entry.key
      key.fields(&buffer)
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

  /// Returns at most `count` bytes from `offset` on; fewer only at the end of the file.
  /// - Throws: `LedgerCheckError` when the disk fails.
  func read(_ count: Int, at offset: UInt64) throws(LedgerCheckError) -> Data {
    do {
      try handle.seek(toOffset: offset)
      return try handle.read(upToCount: count) ?? Data()
    } catch {
      throw LedgerCheckError(path: path, reason: (error as NSError).localizedDescription)
    }
  }

  /// The error for bytes that cannot be what `append` wrote.
  func damaged() -> LedgerCheckError { .damaged(path) }

  /// Stops a debug build unless the runs follow each other without gaps.
  func checkInvariants() {
    var end: UInt64 = 0
    for run in runs {
      assert(run.lowerBound == end, "a run begins where the one before ends")
      end = run.upperBound
    }
  }
}
