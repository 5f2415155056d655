import Domain
import GRDB

/// Keeps the sketches of the devices and of the events of each hour up to date within one transaction.
///
/// A transaction is usually about one or two hours. Those that it is about stay in memory until it ends, some kilobytes each and in all
/// no more than eight bytes for each name of its decisions beyond what the file had.
struct HourNames {
  private struct HourSketches {
    var devices = DistinctSketch()
    var events = DistinctSketch()
  }

  private let db: Database
  private var hour: Int64?
  /// The sketches of `hour`, and those of the other hours of the transaction.
  private var current = HourSketches()
  private var others: [Int64: HourSketches] = [:]

  init(_ db: Database) { self.db = db }

  /// Makes an hour the one that names are added to.
  /// - Returns: Whether it is another one than before.
  mutating func enter(_ hour: Int64) throws -> Bool {
    guard hour != self.hour else { return false }
    if let before = self.hour { others[before] = current }
    self.hour = hour
    if let known = others.removeValue(forKey: hour) {
      current = known
      return true
    }
    current = HourSketches()
    if let row = try Row.fetchOne(db, cached: "SELECT devices, events FROM hourNames WHERE hour = ?", [hour]) {
      current.devices = try DistinctSketch(try row.bytes(0))
      current.events = try DistinctSketch(try row.bytes(1))
    }
    return true
  }

  /// Adds the device of a decision of this hour, and its event.
  /// - Parameters:
  ///   - device: The hash of the device.
  ///   - event: The hash of the event; nil if it was added to this hour already.
  mutating func add(device: KeyHash, event: KeyHash?) {
    current.devices.add(device)
    if let event { current.events.add(event) }
  }

  /// Writes the sketches of all hours of the transaction.
  mutating func finish() throws {
    if let hour { others[hour] = current }
    hour = nil
    let replace = try BoundStatement(db, "INSERT OR REPLACE INTO hourNames VALUES (?, ?, ?)")
    for (hour, names) in others {
      replace.begin()
      replace.set(1, hour)
      replace.set(2, names.devices.bytes)
      replace.set(3, names.events.bytes)
      try replace.run()
    }
    others.removeAll()
  }

  /// Removes the sketches of an hour of which no decision is left.
  static func remove(_ hour: Int64, _ db: Database) throws {
    let delete = "DELETE FROM hourNames WHERE hour = ?1 AND NOT EXISTS (SELECT 1 FROM tally WHERE tally.hour = ?1)"
    try BoundStatement(db, delete).run(hour)
  }

  /// Returns the sketches of the devices and of the events of some hours together.
  static func read(_ hours: ClosedRange<Int64>, _ db: Database) throws -> (
    devices: DistinctSketch, events: DistinctSketch
  ) {
    var (devices, events) = (DistinctSketch(), DistinctSketch())
    let rows = try Row.fetchCursor(
      db, sql: "SELECT devices, events FROM hourNames WHERE hour BETWEEN ? AND ?",
      arguments: [hours.lowerBound, hours.upperBound])
    while let row = try rows.next() {
      devices.add(try DistinctSketch(try row.bytes(0)))
      events.add(try DistinctSketch(try row.bytes(1)))
    }
    return (devices, events)
  }
}
