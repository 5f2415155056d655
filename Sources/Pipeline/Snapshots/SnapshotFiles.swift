import Foundation

/// Snapshots as files of a folder.
final class SnapshotFiles: SnapshotStore {
  private let folder: String

  /// Opens a folder of snapshots.
  ///
  /// - Parameter folder: The path of the folder. It is made if it does not exist.
  /// - Throws: `SnapshotError` if it cannot be made.
  init(folder: String) throws(SnapshotError) {
    self.folder = folder
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw SnapshotError(description: "\(folder): cannot be made: \(error.localizedDescription)")
    }
  }

  func create(_ name: String) throws(SnapshotError) -> any SnapshotSink {
    try FileSink(target: "\(folder)/\(name)")
  }

  func open(_ name: String) throws(SnapshotError) -> (any SnapshotSource)? {
    let path = "\(folder)/\(name)"
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw SnapshotError(description: "\(path): cannot be read; check its permissions")
    }
    return FileSource(path: path, file: file)
  }

  /// A temporary file in the target's folder, which replaces the target when it is complete and on the disk.
  private final class FileSink: SnapshotSink {
    private let target: String
    private let partial: String
    private var file: FileHandle?
    private var isDone = false

    init(target: String) throws(SnapshotError) {
      self.target = target
      // Named by process: two processes may write the same partition, and a crash leaves one file.
      partial = "\(target).\(ProcessInfo.processInfo.processIdentifier).partial"
      guard FileManager.default.createFile(atPath: partial, contents: nil),
        let file = FileHandle(forWritingAtPath: partial)
      else { throw SnapshotError(description: "\(partial): cannot be written; check permissions and space") }
      self.file = file
    }

    deinit { discard() }

    func write(_ bytes: [UInt8]) throws(SnapshotError) {
      do { try file?.write(contentsOf: Data(bytes)) } catch { throw failed(error) }
    }

    func commit() throws(SnapshotError) {
      do {
        try file?.synchronize()
        try file?.close()
        file = nil
      } catch { throw failed(error) }
      // POSIX: rename replaces the target atomically. Both paths live for the call.
      guard unsafe rename(partial, target) == 0 else {
        throw SnapshotError(description: "\(target): cannot be put in place: error \(errno)")
      }
      isDone = true
    }

    func discard() {
      guard !isDone else { return }
      isDone = true
      file = nil
      // If the file cannot be removed, the next snapshot of this process overwrites it.
      _ = unsafe unlink(partial)
    }

    private func failed(_ error: any Error) -> SnapshotError {
      SnapshotError(description: "\(partial): cannot be written: \(error.localizedDescription)")
    }
  }

  private final class FileSource: SnapshotSource {
    private let path: String
    private let file: FileHandle

    init(path: String, file: FileHandle) {
      self.path = path
      self.file = file
    }

    func read(_ count: Int) throws(SnapshotError) -> [UInt8] {
      var failure: Int32 = 0
      // POSIX: reads at most `count` bytes into the array's own memory, which lives for the call. Only the bytes that were
      // read become part of the array.
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        while true {
          let read = unsafe Foundation.read(file.fileDescriptor, buffer.baseAddress, count)
          initialized = max(0, read)
          guard read < 0 else { return }
          failure = errno
          guard failure == EINTR else { return }
          failure = 0
        }
      }
      guard failure == 0 else { throw SnapshotError(description: "\(path): cannot be read: error \(failure)") }
      return bytes
    }
  }
}
