import Auditing
import Planning

/// Stores what a plan decides.
final class PlanAuditing {
  private let store: AuditStore
  private var batch = AuditBatch()

  /// Records of one transaction.
  private static let batchMax = 10_000

  init(path: String) throws {
    if Files.exists(path) {
      throw Failure("there is a file at \(path) already; a plan fills a new audit store: remove it or name another")
    }
    store = try AuditStore.open(path: path)
  }

  func take(_ output: PlannerOutput, of planner: borrowing Planner) throws {
    for index in 0..<output.decisionCount { try add { batch.append(planner.decision(index, of: output)) } }
    for index in 0..<output.commandCount { try add { batch.append(planner.command(index, of: output)) } }
  }

  func finish() throws {
    try flush()
    try store.close()
  }

  private func add(_ append: () -> Void) throws {
    append()
    if batch.count >= Self.batchMax { try flush() }
  }

  private func flush() throws {
    _ = try store.store(batch)
    batch.removeAll()
  }
}
