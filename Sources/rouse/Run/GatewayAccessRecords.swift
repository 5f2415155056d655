import Auditing
import Domain
import Foundation
import Gateway
import Synchronization

/// The access records of a gateway, in a file that is open from the first record on.
final class GatewayAccessRecords: AccessRecording {
  private struct OpenFile {
    var store: AccessStore
    var watch: FileWatch
  }

  let path: String
  let limits: AccessStore.RecordLimits
  private let refusals = RefusalTallies()
  private let file = Mutex<OpenFile?>(nil)

  /// The characters that are kept of a device's name.
  /// - Beyond: the rest is left out.
  private static let nameMax = 1024

  /// Opens nothing yet.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - limits: The limits on what is kept.
  init(path: String, limits: AccessStore.RecordLimits) {
    self.path = path
    self.limits = limits
  }

  func write(_ changes: [RecordedChange]) throws(AccessRecordingError) {
    let records = changes.map { change in
      AccessRecord(
        at: change.at, key: change.key.map { Identifier($0) }, operation: Identifier(change.operation),
        device: Identifier(String(change.device.prefix(Self.nameMax))), status: change.status,
        client: change.client.map { Identifier($0) })
    }
    try use { store throws(AuditError) in try store.write(records) }
  }

  func note(_ attempt: RefusedAttempt) {
    refusals.note(
      attempt.cause, key: attempt.key, operation: attempt.operation, status: attempt.status, client: attempt.client,
      at: attempt.at)
  }

  func writeRefusals() throws(AccessRecordingError) {
    let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
    try use { store throws(AuditError) in
      try refusals.flush(at: now) { (grown: [RefusedAccess]) throws(AuditError) in try store.write(grown) }
    }
  }

  /// Runs a call on the file, which is opened if it is not open, or was moved away.
  private func use(_ body: (AccessStore) throws(AuditError) -> Void) throws(AccessRecordingError) {
    let failure: AuditError? = file.withLock { file in
      do throws(AuditError) {
        if file?.watch.isReplaced() != false {
          file = nil
          let store = try AccessStore.open(path: path, retention: limits)
          file = OpenFile(store: store, watch: FileWatch(path: path))
        }
        if let store = file?.store { try body(store) }
        return nil
      } catch {
        file = nil
        return error
      }
    }
    if let failure { throw AccessRecordingError("\(failure)") }
  }
}
