import Auditing
import Planning

/// Stores the decisions and commands of a plan in a new audit store.
final class PlanAuditing {
  private let store: AuditStore
  private var batch = AuditBatch()

  /// The number of records in one transaction.
  private static let batchMax = 10_000

  /// Makes the store.
  /// - Throws: `Failure` if there is a file at the path, `AuditError` if the store cannot be made.
  init(path: String) throws {
    if Files.exists(path) {
      throw Failure("there is a file at \(path) already; --audit makes a new store: remove the file or name another")
    }
    store = try AuditStore.open(path: path)
  }

  /// Stores the output of one step.
  /// - Parameters:
  ///   - output: The output of the step.
  ///   - planner: The planner that made the output and has not begun another step.
  /// - Throws: `AuditError` if the store cannot be written.
  func take(_ output: PlannerOutput, of planner: borrowing Planner) throws {
    for index in 0..<output.decisionCount {
      batch.append(planner.decision(index, of: output))
      try flushIfFull()
    }
    for index in 0..<output.commandCount {
      batch.append(planner.command(index, of: output))
      try flushIfFull()
    }
  }

  /// Stores the rest and closes the store.
  /// - Throws: `AuditError` if the store cannot be written.
  func finish() throws {
    try flush()
    try store.close()
  }

  private func flushIfFull() throws {
    if batch.count >= Self.batchMax { try flush() }
  }

  private func flush() throws {
    _ = try store.store(batch)
    batch.removeAll()
  }
}
