import Foundation

/// The folder of a client, which several processes may use at a time, such as an app and its widget extension.
///
///     device         the id of the device, if the client made it
///     state.json     the registration, the pause after a failure, the counts
///     lock           locked while one of these is read and written again
///     signals/       one file for each signal
///
/// A file is written as a whole and then renamed, so a reader sees the one before or the new one. The lock is held for as long as it takes
/// to read and write one small file, never while something is awaited: iOS ends an app that is suspended with a lock on a file of an app
/// group. Signals need no lock.
struct ClientFolder: Sendable {
  /// The place.
  let url: URL

  /// The largest number of attempts to get the lock.
  /// - Beyond: the operation fails; nothing is changed.
  static let lockAttemptsMax = 200
  /// The pause between two attempts to get the lock.
  static let lockPause = Duration.milliseconds(10)

  private var stateFile: URL { url.appending(path: "state.json") }
  private var deviceFile: URL { url.appending(path: "device") }
  private var lockFile: URL { url.appending(path: "lock") }
  /// The folder of the signals.
  var signals: URL { url.appending(path: "signals", directoryHint: .isDirectory) }

  /// Makes the folder if there is none.
  ///
  /// - Throws: `DeviceClientError` if it cannot be made.
  func make() throws(DeviceClientError) {
    do { try FileManager.default.createDirectory(at: signals, withIntermediateDirectories: true) } catch {
      throw .storage("cannot make the folder \(signals.path): \(error.localizedDescription)")
    }
  }

  /// The outcome of an attempt to change the state.
  enum LockedChange<Result> {
    /// The state was changed. `isDamaged` says that the file could not be understood, and that a new one was begun.
    case done(Result, isDamaged: Bool)
    /// Another process has the lock.
    case busy
  }

  /// Changes the state, if no other process does so at the moment.
  ///
  /// - Parameter body: Gets the state.
  /// - Returns: The result of the body.
  /// - Throws: `DeviceClientError` if the file cannot be read or written. It is left as it was.
  func change<Result>(_ body: (inout ClientState) -> Result) throws(DeviceClientError) -> LockedChange<Result> {
    guard let lock = try lock() else { return .busy }
    defer { Self.release(lock) }
    var (state, isDamaged) = (ClientState(), false)
    if let bytes = try bytes(stateFile) {
      // A file that was torn by a crash is begun anew. One that cannot be read, such as before the first unlock, stays.
      if let read = try? ClientCoding.value(ClientState.self, bytes) { state = read } else { isDamaged = true }
    }
    let before = state
    if isDamaged { state.damaged += 1 }
    let result = body(&state)
    if state != before {
      do { try ClientCoding.bytes(state).write(to: stateFile, options: .atomic) } catch {
        throw .storage("cannot write \(stateFile.path): \(error.localizedDescription)")
      }
    }
    return .done(result, isDamaged: isDamaged)
  }

  /// Returns the id of the device, and makes one if there is none.
  ///
  /// - Returns: The id; nil if another process has the lock.
  /// - Throws: `DeviceClientError` if the file cannot be read or written.
  func device() throws(DeviceClientError) -> String? {
    guard let lock = try lock() else { return nil }
    defer { Self.release(lock) }
    if let bytes = try bytes(deviceFile), let id = UUID(uuidString: String(decoding: bytes, as: UTF8.self)) {
      return id.uuidString.lowercased()
    }
    let id = UUID().uuidString.lowercased()
    do { try Data(id.utf8).write(to: deviceFile, options: .atomic) } catch {
      throw .storage("cannot write \(deviceFile.path): \(error.localizedDescription)")
    }
    return id
  }

  /// Locks the folder until the handle is closed.
  ///
  /// - Returns: The handle; nil if another process has the lock.
  private func lock() throws(DeviceClientError) -> FileHandle? {
    // Foundation would replace the file of another process by a new one, and the two would not exclude each other.
    // The path is lent for the call.
    let descriptor = unsafe open(lockFile.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      throw .storage("cannot open \(lockFile.path): \(error.localizedDescription)")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? handle : nil
  }

  private static func release(_ lock: FileHandle) {
    // Whatever closing reports, the descriptor is gone, and with it the lock.
    try? lock.close()
  }

  /// The content of a file; nil if there is no such file.
  private func bytes(_ file: URL) throws(DeviceClientError) -> Data? {
    do { return try Data(contentsOf: file) } catch {
      guard FileManager.default.fileExists(atPath: file.path) else { return nil }
      throw .storage("cannot read \(file.path): \(error.localizedDescription)")
    }
  }
}
