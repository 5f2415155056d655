import Foundation

/// Snapshots as files of a folder. Snapshots contain push tokens, so the folder and its files are made for their owner alone.
final class SnapshotFiles: SnapshotStore {
  private let folder: String

  /// Opens a folder of snapshots.
  ///
  /// - Parameter folder: The path of the folder. It is made if it does not exist. An existing one keeps its permissions.
  /// - Throws: `SnapshotError` if it cannot be made.
  init(folder: String) throws(SnapshotError) {
    self.folder = folder
    if permissions() != nil { return }
    do {
      let parent = URL(fileURLWithPath: folder).deletingLastPathComponent()
      try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    } catch {
      throw SnapshotError(description: "\(folder): cannot be made: \(error.localizedDescription)")
    }
    // POSIX: the path is lent for the call, which sets the permissions when it makes the folder. Another planner thread may
    // have made the folder meanwhile.
    let code = unsafe mkdir(folder, 0o700) == 0 ? 0 : errno
    guard code == 0 || permissions() != nil else {
      throw SnapshotError(description: "\(folder): cannot be made: error \(code)")
    }
  }

  /// Returns the permissions of the folder, links followed; nil if there is no folder.
  private func permissions() -> mode_t? {
    var status = stat()
    // POSIX: both pointers are lent for the call, which fills `status` if it returns 0.
    guard unsafe stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
    return status.st_mode & 0o7777
  }

  /// Whether users other than the owner can list the folder or change it. A folder that this type makes is for the owner
  /// alone; an existing one keeps its permissions.
  var isOpenToOthers: Bool { (permissions() ?? 0) & 0o077 != 0 }

  func create(_ name: String) throws(SnapshotError) -> any SnapshotSink {
    try FileSink(target: "\(folder)/\(name)")
  }

  func open(_ name: String) throws(SnapshotError) -> (any SnapshotSource)? {
    let path = "\(folder)/\(name)"
    // POSIX: the path is lent for the call. Without O_NONBLOCK, opening a named pipe would wait for a writer for ever.
    let descriptor = unsafe Foundation.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw SnapshotError(description: "\(path): cannot be read; check its permissions")
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    // POSIX: fills `status`, which is lent for the call, if it returns 0.
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw SnapshotError(description: "\(path): expected a regular file")
    }
    return FileSource(path: path, file: file, bytes: Int(status.st_size))
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
      // A file that a killed process of the same number left behind may have other permissions.
      _ = unsafe unlink(partial)
      // POSIX: the path is lent for the call, which sets the permissions when it makes the file.
      let descriptor = unsafe Foundation.open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        throw SnapshotError(description: "\(partial): cannot be written; check permissions and space")
      }
      file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
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
    let bytes: Int

    init(path: String, file: FileHandle, bytes: Int) {
      self.path = path
      self.file = file
      self.bytes = bytes
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
