import Auditing
import Domain
import Gateway
import Synchronization

/// The access records of a gateway, in a file that is open from the first record on.
final class GatewayAccessRecords: AccessRecording {
  private let refusals = RefusalTallies()
  private let file: Mutex<AccessFile>

  /// Opens nothing yet.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - limits: The limits on what is kept.
  init(path: String, limits: AccessStore.RecordLimits) { file = Mutex(AccessFile(path: path, retention: limits)) }

  func write(_ changes: [RecordedChange]) throws(AccessRecordingError) {
    let records = changes.map { change in
      AccessRecord(
        at: change.at, key: change.key.map { Identifier($0) }, operation: Identifier(change.operation),
        device: Identifier(change.device), status: change.status,
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
    let now = Machine.now
    try use { store throws(AuditError) in
      try refusals.flush(at: now) { (grown: [RefusedAccess]) throws(AuditError) in try store.write(grown) }
    }
  }

  private func use(_ body: @Sendable (AccessStore) throws(AuditError) -> Void) throws(AccessRecordingError) {
    let failure: AuditError? = file.withLock { file in
      do throws(AuditError) {
        try file.use(body)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw AccessRecordingError("\(failure)") }
  }
}
