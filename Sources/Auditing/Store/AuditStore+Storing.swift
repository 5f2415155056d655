import Domain
import GRDB

extension AuditStore {
  /// Stores a batch and its positions in one transaction. Push tokens become keyed hashes (`TokenKey`). A record whose id is
  /// stored already is counted as a duplicate and changes nothing.
  /// - Returns: the number of new records and of duplicates.
  /// - Throws: `AuditError`, in which case nothing of the batch is stored.
  @discardableResult
  public func store(_ batch: AuditBatch) throws(AuditError) -> StoredCounts {
    do {
      return try write { db in
        var writer = try BatchWriter(db, words: words, filling: filling, sequenceFloor: sequenceFloor)
        for decision in batch.decisions { try writer.insert(decision) }
        for command in batch.commands { try writer.insert(keyOfTokens().concealing(command)) }
        try writer.finish(positions: batch.positions, holes: batch.holes)
        return writer.counts
      }
    } catch {
      // The transaction is rolled back, and with it the numbers that it gave to new words and the decisions that were counted.
      words.removeAll()
      filling.reset()
      throw error
    }
  }
}
