import Domain
import Foundation
import GRDB

/// Notices that the file of an open store was moved away, replaced, overwritten or damaged. Belongs to the thread of the store.
///
/// SQLite does not notice it by itself: it goes on with the file that it has open, and with the pages in its memory and in the
/// write-ahead log.
public struct StoreWatch {
  /// The time between two looks. A change is noticed within this time while the store is used.
  private static let interval = Duration.seconds(20)
  private let path: String
  private let file: StoreFileMark?
  private var header: StoreHeader?
  /// The positions at the last look. They never fall, unless an older copy is written over the file.
  private var positions: [AuditPosition] = []
  private var lookedAt: ContinuousClock.Instant

  /// Begins with the file that is there now.
  /// - Parameters:
  ///   - path: The path of a store that was opened for writing.
  ///   - now: The time.
  /// - Throws: `AuditError` if the file is no store.
  public init(path: String, now: ContinuousClock.Instant) throws(AuditError) {
    self.path = path
    file = StoreFileMark(of: path)
    lookedAt = now
    header = try StoreHeader(of: path)
  }

  /// Looks at the file, unless the last look was less than 20 s ago.
  /// - Parameter now: The time.
  /// - Throws: `AuditError` if the file is not the store any more. It is never `isRetriable`.
  public mutating func look(now: ContinuousClock.Instant) throws(AuditError) {
    guard now - lookedAt >= Self.interval else { return }
    lookedAt = now
    guard StoreFileMark(of: path) == file else {
      throw AuditError(
        kind: .replaced, path: path, reason: "was moved away or replaced while it was in use",
        advice: "the audit goes on with what is there now, or with a new store, filled from the topics")
    }
    let header = try StoreHeader(of: path)
    if let header, let before = self.header, !header.follows(before) { throw StoreHeader.overwritten(path) }
    self.header = header ?? self.header
    try readAnew()
  }

  /// Reads a row of each table and the positions with nothing in memory, as another process would.
  private mutating func readAnew() throws(AuditError) {
    do throws(AuditError) {
      let store = try AuditStore.open(path: path, options: AuditOptions(access: .read))
      try store.read { db in
        for table in try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'") {
          _ = try Row.fetchOne(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier) LIMIT 1")
        }
        for table in ["page", "command"] {
          _ = try Row.fetchOne(db, sql: "SELECT * FROM \(table) ORDER BY seq DESC LIMIT 1")
        }
      }
      let positions = try store.positions()
      try store.close()
      for position in positions where self.positions.contains(where: { position.isBehind($0) }) {
        throw StoreHeader.overwritten(path)
      }
      self.positions = positions
    } catch {
      // Another process that writes for long says nothing about the file.
      guard error.isRetriable else { throw error }
    }
  }
}

extension AuditPosition {
  /// Returns whether this is the same partition as another position, at an earlier offset.
  fileprivate func isBehind(_ other: AuditPosition) -> Bool {
    topic == other.topic && partition == other.partition && next < other.next
  }
}
