package import Auditing
package import Pipeline
import Synchronization

/// The place of the audit store of a process, where a store that was damaged while it was open is not opened again.
package final class AuditPlace: Sendable {
  /// A file that was damaged, and the words about it.
  private struct DamagedFile {
    var file: StoreFileMark
    var reason: String
  }

  private let path: String
  private let damaged = Mutex<DamagedFile?>(nil)

  /// - Parameter path: The path of the store.
  package init(path: String) { self.path = path }

  /// Opens the store, or creates it.
  /// - Parameter retention: The bounds of the store.
  /// - Throws: `PipelineError.store` if it cannot be opened, or if its file was damaged while it was open and is still there.
  package func open(retention: Retention) throws(PipelineError) -> AuditSink {
    if let known = damaged.withLock(\.self), StoreFileMark(of: path) == known.file { throw .store(known.reason) }
    do throws(AuditError) { return try AuditSink(path: path, retention: retention) } catch {
      throw .store(error.description)
    }
  }

  /// Runs the feed of a store, and remembers the file if it is damaged.
  /// - Throws: the error of `feed`.
  package func use(_ sink: AuditSink, _ feed: () throws(PipelineError) -> Void) throws(PipelineError) {
    let file = StoreFileMark(of: path)
    do throws(PipelineError) { try feed() } catch {
      if case .store(let reason) = error, sink.isDamaged, let file {
        damaged.withLock { $0 = DamagedFile(file: file, reason: reason) }
      }
      throw error
    }
  }
}
