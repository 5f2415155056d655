public import Domain
import Foundation
import GRDB
import Synchronization

/// A signal about a look at a device, or about a fetch of its widgets, as the file of a view has it. Other signals are not kept.
struct StoredSignal {
  /// The tables of signals.
  static let tables = """
    -- The newest looks and fetches. `sort` is a code of `SignalCode`; `instance` is empty if the signal names none.
    CREATE TABLE signal(
      device BLOB NOT NULL, at INTEGER NOT NULL, sort INTEGER NOT NULL, instance BLOB NOT NULL,
      PRIMARY KEY (device, at, sort, instance)) WITHOUT ROWID;
    CREATE TABLE signalPosition(partition INTEGER PRIMARY KEY, next INTEGER NOT NULL);
    """

  /// Removes the signals about devices that are not registered.
  static let purge = "DELETE FROM signal WHERE device NOT IN (SELECT name FROM device)"

  /// The codes of the signals that are kept.
  private enum SignalCode: Int64 {
    case foregrounded = 1
    case backgrounded, fetched, viewed
  }

  let device: Data
  /// The time of the signal, in µs since 1970.
  let at: Int64
  private let code: SignalCode
  private let instance: Data
  /// The code in the file.
  var sort: Int64 { code.rawValue }
  /// The values of a row.
  var arguments: StatementArguments { [device, at, code.rawValue, instance] }

  /// Takes a signal that tells of a look or of a fetch.
  ///
  /// - Parameter signal: The signal.
  /// - Returns: Nil for any other signal.
  init?(_ signal: Signal) {
    let (code, instance): (SignalCode, Identifier?)
    switch signal.kind {
    case .appForegrounded: (code, instance) = (.foregrounded, nil)
    case .appBackgrounded: (code, instance) = (.backgrounded, nil)
    case .widgetFetched(let id, _): (code, instance) = (.fetched, id)
    case .widgetViewed(let id): (code, instance) = (.viewed, id)
    case .activityStarted, .activityEnded, .activityDismissed, .tokenRejected, .deliveryCompleted: return nil
    }
    device = Data(signal.device.utf8)
    at = signal.time.microseconds
    (self.code, self.instance) = (code, instance.map { Data($0.utf8) } ?? Data())
  }

  /// Returns the signal of a row.
  ///
  /// - Parameters:
  ///   - row: The columns `at`, `sort` and `instance`.
  ///   - device: The device.
  ///   - place: The place of the row in the answer, which stands for the id that the file does not keep.
  /// - Returns: Nil for a row of a later version.
  static func signal(_ row: Row, of device: Identifier, _ place: Int) -> Signal? {
    let bytes: Data = row[2]
    let instance = bytes.isEmpty ? nil : Identifier(decoding: Array(bytes))
    let kind: Signal.Kind
    switch SignalCode(rawValue: row[1]) {
    case .foregrounded: kind = .appForegrounded
    case .backgrounded: kind = .appBackgrounded
    case .fetched: kind = .widgetFetched(instance: instance)
    case .viewed: kind = .widgetViewed(instance: instance)
    case nil: return nil
    }
    return Signal(device: device, id: "\(place)", time: Timestamp(microseconds: row[0]), kind: kind)
  }
}

extension DeviceStore {
  /// The most looks and fetches of a device in the file.
  /// - Beyond: the oldest are removed.
  static let signalsMax = 50

  /// The numbers of signals by what became of them.
  struct SignalCounts: Sendable, Equatable {
    /// Signals that were put into the view. A repeat counts again.
    var kept = 0
    /// Signals about devices that are not registered.
    var unknown = 0
  }

  /// Adds looks and fetches, together with the positions behind them.
  ///
  /// Signals about unknown devices are passed over, so that nothing is known about a device that was forgotten. Until the feed of this
  /// process has found the view to have everything, any device may still come: all are taken then, and those about unknown devices go with
  /// the moment when it has.
  ///
  /// - Parameters:
  ///   - signals: The signals.
  ///   - next: The offset of the next record of each partition that was read.
  /// - Throws: `DeviceStoreError`; nothing is changed then.
  func add(_ signals: [StoredSignal], next: [Int32: Int64]) throws(DeviceStoreError) -> SignalCounts {
    do {
      return try database.write { db in
        // Asked within the transaction: what is added before is removed by the purge, which comes later.
        let isFull = isFilled.load(ordering: .relaxed)
        var counts = SignalCounts()
        var devices: Set<Data> = []
        let find = try db.cachedStatement(sql: "SELECT 1 FROM device WHERE name = ?")
        let insert = try db.cachedStatement(sql: "INSERT OR IGNORE INTO signal VALUES (?, ?, ?, ?)")
        for signal in signals {
          if isFull, try Int64.fetchOne(find, arguments: [signal.device]) == nil {
            counts.unknown += 1
            continue
          }
          try insert.execute(arguments: signal.arguments)
          devices.insert(signal.device)
          counts.kept += 1
        }
        let trim = try db.cachedStatement(
          sql: """
            DELETE FROM signal WHERE device = ?1 AND (at, sort, instance) <
              (SELECT at, sort, instance FROM signal WHERE device = ?1
               ORDER BY at DESC, sort DESC, instance DESC LIMIT 1 OFFSET \(Self.signalsMax - 1))
            """)
        for device in devices { try trim.execute(arguments: [device]) }
        for (partition, offset) in next {
          try db.cachedStatement(sql: "INSERT OR REPLACE INTO signalPosition VALUES (?, ?)")
            .execute(arguments: [partition, offset])
        }
        return counts
      }
    } catch { throw DeviceStoreError(path, error) }
  }

  /// Returns the offset of the next signal of each partition that was read.
  ///
  /// - Throws: `DeviceStoreError` if the file cannot be read.
  func signalPositions() throws(DeviceStoreError) -> [Int32: Int64] { try positions(in: "signalPosition") }
}

extension DeviceListeners {
  /// Finds the newest looks at a device and fetches of its widgets, newest first. It reads the disk. Their ids are numbers of the answer.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - from: The first instant; nil for any.
  ///   - to: The first instant that is too late; nil for none.
  /// - Throws: `DeviceStoreError` if there is no view of this version, or none at all, or if it cannot be read.
  public func signals(
    of device: Identifier, from: Timestamp?, to: Timestamp?
  ) throws(DeviceStoreError) -> [Signal] {
    try read { db in
      let rows = try Row.fetchAll(
        db,
        sql: "SELECT at, sort, instance FROM signal WHERE device = ? AND at >= ? AND at < ? ORDER BY at DESC LIMIT ?",
        arguments: [
          Data(device.utf8), from?.microseconds ?? .min, to?.microseconds ?? .max, DeviceStore.signalsMax,
        ])
      return rows.enumerated().compactMap { StoredSignal.signal($1, of: device, $0) }
    }
  }
}
