import Domain
import LineFiles
public import Logging
import Synchronization

/// The keys that a server accepts. They follow their file: it is read again when it has changed. May be used from any thread.
///
/// A key is looked up by the SHA-256 of what the client sent. How long that takes tells nothing about any key: a client cannot choose
/// the hash of what it sends.
public final class KeyRing: Sendable {
  /// A key that works, and the records that it may still send.
  final class Holder: Sendable {
    let key: AccessKey
    /// The rate; nil if there is no limit.
    let bucket: TokenBucket?

    init(_ key: AccessKey, _ bucket: TokenBucket?) {
      self.key = key
      self.bucket = bucket
    }
  }

  private struct State {
    var holders: [String: Holder] = [:]
    var mark: FileMark
  }

  private let path: String
  private let recordsPerSecond: Int?
  private let logger: Logger
  private let state: Mutex<State>

  /// Reads a key file.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - recordsPerSecond: The records that each key may send a second; nil for any number.
  ///   - logger: Gets changes of the file.
  /// - Throws: `KeyFileError` if the file cannot be read, or is no key file.
  public init(path: String, recordsPerSecond: Int?, logger: Logger) throws(KeyFileError) {
    self.path = path
    self.recordsPerSecond = recordsPerSecond
    self.logger = logger
    let mark = FileMark(path)
    let file = try KeyFile(path: path)
    state = Mutex(State(mark: mark))
    use(file, mark)
  }

  /// The number of keys that are not revoked.
  public var count: Int { state.withLock { $0.holders.values.count { $0.key.revoked == nil } } }

  /// Reads the file again if it has changed. A file that cannot be used leaves the keys as they are.
  ///
  /// It reads the disk, so it must not be called on an event loop.
  public func refresh() {
    let mark = FileMark(path)
    guard mark != state.withLock({ $0.mark }) else { return }
    do throws(KeyFileError) {
      use(try KeyFile(path: path), mark)
      logger.info("the keys have changed", metadata: ["keys": "\(count)", "file": "\(path)"])
    } catch {
      state.withLock { $0.mark = mark }
      logger.warning(
        "the key file has changed and cannot be used; the keys from before stay in force",
        metadata: ["error": "\(error)"])
    }
  }

  /// Returns the holder of a secret.
  ///
  /// - Parameter secret: The text that the client sent.
  /// - Returns: The holder; nil if there is no such key. The key may have expired or be revoked.
  func holder(of secret: String) -> Holder? {
    let hash = AccessKey.hash(of: secret)
    return state.withLock { $0.holders[hash] }
  }

  /// Returns the holder of a key.
  ///
  /// - Parameter hash: The SHA-256 of the secret, as the key has it.
  /// - Returns: The holder; nil if there is no such key any more. The key may have expired or be revoked.
  func holder(keyHash hash: String) -> Holder? { state.withLock { $0.holders[hash] } }

  private func use(_ file: KeyFile, _ mark: FileMark) {
    state.withLock { state in
      let before = state.holders
      state.holders = [:]
      for key in file.keys {
        // A change of the file does not fill the buckets again.
        let bucket = before[key.hash]?.bucket ?? recordsPerSecond.map { TokenBucket(perSecond: $0) }
        state.holders[key.hash] = Holder(key, bucket)
      }
      state.mark = mark
    }
    if KeyFile.isOpenToOthers(path) {
      logger.warning(
        "users other than the owner can read the key file; chmod 600 keeps them out",
        metadata: ["file": "\(path)"])
    }
  }
}
