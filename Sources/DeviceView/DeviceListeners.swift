public import Foundation
import GRDB

/// Counts the devices that listen to interest keys, and finds registrations, in the file of a ``DeviceStore``. The file may be kept up to date by another process.
/// Each question opens it for reading.
public struct DeviceListeners: Sendable {
  /// The answer to a question.
  public struct ListenerCounts: Sendable, Equatable {
    /// The devices of each group, in the order of the question.
    public var groups: [Int]
    /// The devices of all groups together, each counted once.
    public var devices: Int
    /// The age of the view in whole seconds: what was written before that is in it. Nil if it never had everything.
    public var ageSeconds: Int?
  }

  /// Instances of one kind that listen to any of some keys.
  public struct ListenerGroup: Sendable, Equatable {
    public var kind: String
    /// The interest keys.
    public var keys: [String]

    /// Names a group.
    public init(kind: String, keys: [String]) {
      self.kind = kind
      self.keys = keys
    }
  }

  /// The numbers of all devices and of what they show.
  public struct ShownTotals: Sendable, Equatable {
    public var devices: Int
    /// The placed widgets, placed controls and running activities, by kind.
    public var instances: [String: Int]
    /// The age of the view in whole seconds: what was written before that is in it. Nil if it never had everything.
    public var ageSeconds: Int?
  }

  /// The path of the file.
  public let path: String

  /// The most pairs of a kind and a key in a question. SQLite allows 500.
  /// - Beyond: the question is refused.
  public static let pairsMax = 400

  /// Names the file. It is opened by each question.
  ///
  /// - Parameter path: The path of the file.
  public init(path: String) { self.path = path }

  /// Counts devices. It reads the disk: an entry of an index for each device that is counted.
  ///
  /// - Parameters:
  ///   - groups: The groups.
  ///   - now: The wall clock.
  /// - Throws: `DeviceStoreError` if there is no view of this version, if it cannot be read, or if the question has too many pairs.
  public func count(_ groups: [ListenerGroup], at now: Date) throws(DeviceStoreError) -> ListenerCounts {
    try read { db in
      let since = try Int64.fetchOne(db, sql: "SELECT current FROM about") ?? 0
      return ListenerCounts(
        groups: try groups.map { group in try count(group.keys.map { ($0, group.kind) }, db) },
        devices: try count(groups.flatMap { group in group.keys.map { ($0, group.kind) } }, db),
        ageSeconds: Self.age(since, now))
    }
  }

  /// Finds the registration of a device. It reads the disk.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - now: The wall clock.
  /// - Returns: The registration, nil if the view has none; and the age of the view in whole seconds, nil if it never had everything.
  /// - Throws: `DeviceStoreError` if there is no view of this version, or none at all, or if it cannot be read.
  public func find(_ device: String, at now: Date) throws(DeviceStoreError) -> (device: StoredDevice?, ageSeconds: Int?)
  {
    try read { db in
      let since = try Int64.fetchOne(db, sql: "SELECT current FROM about") ?? 0
      let row = try Row.fetchOne(
        db, sql: "SELECT app, value FROM device WHERE name = ?", arguments: [Data(device.utf8)])
      return (row.map { StoredDevice(app: $0[0], value: Array($0[1] as Data)) }, Self.age(since, now))
    }
  }

  /// Finds the registrations of some devices. It reads the disk.
  ///
  /// - Parameters:
  ///   - devices: The devices.
  ///   - now: The wall clock.
  /// - Returns: The registrations that the view has; and the age of the view in whole seconds, nil if it never had everything.
  /// - Throws: `DeviceStoreError` if there is no view of this version, or none at all, or if it cannot be read.
  public func find(
    _ devices: [String], at now: Date
  ) throws(DeviceStoreError) -> (devices: [StoredDevice], ageSeconds: Int?) {
    try read { db in
      let since = try Int64.fetchOne(db, sql: "SELECT current FROM about") ?? 0
      let one = try db.cachedStatement(sql: "SELECT app, value FROM device WHERE name = ?")
      let found = try devices.compactMap { device in
        try Row.fetchOne(one, arguments: [Data(device.utf8)]).map {
          StoredDevice(app: $0[0], value: Array($0[1] as Data))
        }
      }
      return (found, Self.age(since, now))
    }
  }

  /// Tells how many devices there are, and how many instances they show. It reads a row of the disk for each kind.
  ///
  /// - Parameter now: The wall clock.
  /// - Throws: `DeviceStoreError` if there is no view of this version, or if it cannot be read.
  public func totals(at now: Date) throws(DeviceStoreError) -> ShownTotals {
    try read { db in
      let about = try Row.fetchOne(db, sql: "SELECT current, devices FROM about")
      let kinds = try Row.fetchAll(db, sql: "SELECT kind, instances FROM total")
      return ShownTotals(
        devices: about?[1] ?? 0,
        instances: Dictionary(
          uniqueKeysWithValues: kinds.map { (String(decoding: $0[0] as Data, as: UTF8.self), $0[1]) }),
        ageSeconds: Self.age(about?[0] ?? 0, now))
    }
  }

  private static func age(_ since: Int64, _ now: Date) -> Int? {
    since == 0 ? nil : max(0, Int(now.timeIntervalSince1970) - Int(since))
  }

  /// Opens the file for one question.
  func read<Answer>(_ question: (Database) throws -> Answer) throws(DeviceStoreError) -> Answer {
    guard FileManager.default.fileExists(atPath: path) else {
      throw DeviceStoreError(
        path,
        "is not there yet; the process that keeps it makes it at its start (gateway.devicesView, console.devicesView)")
    }
    do {
      var configuration = Configuration()
      configuration.readonly = true
      configuration.label = "rouse.devices.listeners"
      configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
      return try DatabaseQueue(path: path, configuration: configuration).read { db in
        try DeviceStore.checkVersion(db, path)
        return try question(db)
      }
    } catch { throw DeviceStoreError(path, error) }
  }

  private func count(_ pairs: [(key: String, kind: String)], _ db: Database) throws -> Int {
    guard !pairs.isEmpty else { return 0 }
    guard pairs.count <= Self.pairsMax else {
      throw DeviceStoreError(
        path, "is not asked for \(pairs.count) pairs of a kind and a key; at most \(Self.pairsMax)")
    }
    let one = "SELECT device FROM interest WHERE key = ? AND kind = ?"
    let all = Array(repeating: one, count: pairs.count).joined(separator: " UNION ")
    let arguments = pairs.flatMap { [Data($0.key.utf8), Data($0.kind.utf8)] }
    return try Int.fetchOne(db, sql: "SELECT count(*) FROM (\(all))", arguments: StatementArguments(arguments)) ?? 0
  }
}
