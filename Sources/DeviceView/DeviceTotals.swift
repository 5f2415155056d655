import Foundation
import GRDB

/// The changes of a transaction to the numbers of devices and of the instances of each kind. The file keeps the sums, so that a question
/// does not read every device.
struct DeviceTotals {
  /// The devices that came, less those that went.
  var devices = 0
  /// The instances that came, less those that went, by the bytes of their kind.
  var instances: [Data: Int] = [:]

  /// Takes away the instances of a device. Called before they are removed.
  ///
  /// - Parameters:
  ///   - device: The number of the device in the file.
  ///   - db: The transaction.
  mutating func subtract(device: Int64, _ db: Database) throws {
    let rows = try Row.fetchCursor(
      db.cachedStatement(sql: "SELECT kind, instances FROM shown WHERE device = ?"), arguments: [device])
    try subtract(rows)
  }

  /// Takes away the devices of a partition with their instances. Called before they are removed.
  ///
  /// - Parameters:
  ///   - partition: The partition.
  ///   - db: The transaction.
  mutating func subtract(partition: Int32, _ db: Database) throws {
    devices -=
      try Int.fetchOne(db, sql: "SELECT count(*) FROM device WHERE partition = ?", arguments: [partition]) ?? 0
    let rows = try Row.fetchCursor(
      db,
      sql: """
        SELECT kind, sum(instances) FROM shown WHERE device IN (SELECT n FROM device WHERE partition = ?) GROUP BY kind
        """, arguments: [partition])
    try subtract(rows)
  }

  private mutating func subtract(_ rows: RowCursor) throws {
    while let row = try rows.next() {
      let (kind, count): (Data, Int) = (row[0], row[1])
      instances[kind, default: 0] -= count
    }
  }

  /// Changes the sums of the file.
  ///
  /// - Parameter db: The transaction.
  func write(_ db: Database) throws {
    if devices != 0 { try db.execute(sql: "UPDATE about SET devices = devices + ?", arguments: [devices]) }
    for (kind, change) in instances where change != 0 {
      try db.cachedStatement(
        sql: """
          INSERT INTO total VALUES (?, ?) ON CONFLICT(kind) DO UPDATE SET instances = instances + excluded.instances
          """
      ).execute(arguments: [kind, change])
      // Kinds are named by devices, so those that are gone must not be kept.
      guard change < 0 else { continue }
      try db.cachedStatement(sql: "DELETE FROM total WHERE kind = ? AND instances = 0").execute(arguments: [kind])
    }
  }
}
