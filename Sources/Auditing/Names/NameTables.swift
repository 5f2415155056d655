import Domain
import GRDB

/// Numbers of strings seen lately, so that most rows need no look-up in the file. Bounded: two generations, the older of
/// which is thrown away when the younger is full.
struct NameCache<Key: Hashable> {
  struct Entry {
    var n: Int64
    /// The newest age for which the row is marked as in use.
    var last: Int64
  }
  /// About 100 bytes each.
  private static var entriesMax: Int { 400_000 }
  private var young: [Key: Entry] = [:]
  private var old: [Key: Entry] = [:]
  /// One event fills many rows in a row: comparing is quicker than hashing.
  private var latest: (key: Key, entry: Entry)?

  mutating func entry(_ key: Key) -> Entry? {
    if let latest, latest.key == key { return latest.entry }
    if let entry = young[key] {
      latest = (key, entry)
      return entry
    }
    guard let entry = old[key] else { return nil }
    set(key, entry)
    return entry
  }

  mutating func set(_ key: Key, _ entry: Entry) {
    if young.count >= Self.entriesMax {
      swap(&young, &old)
      young.removeAll(keepingCapacity: true)
    }
    young[key] = entry
    latest = (key, entry)
  }

  mutating func removeAll() {
    young.removeAll()
    old.removeAll()
    latest = nil
  }
}

/// The caches of every table of names. Emptied when a write fails or somebody else wrote.
final class NameCaches {
  var events = NameCache<String>()
  var devices = NameCache<String>()
  var texts = NameCache<String>()
  var instances = NameCache<InstanceName>()
  var kinds = NameCache<String>()
  var policies = NameCache<PolicyReference>()

  /// Forgets every number.
  func removeAll() {
    events.removeAll()
    devices.removeAll()
    texts.removeAll()
    instances.removeAll()
    kinds.removeAll()
    policies.removeAll()
  }
}

/// What a row of `instance` names.
struct InstanceName: Hashable {
  var id: String
  var kind: Int64
  var surface: Int64
}

/// Gives strings their numbers within one write.
struct NameWriter {
  /// The age that is being written.
  let age: Int64
  private let caches: NameCaches
  private let event: NameStatements
  private let device: NameStatements
  private let text: NameStatements
  private let instance: NameStatements
  private let kind: NameStatements
  private let policy: NameStatements

  init(_ db: Database, caches: NameCaches, age: Int64) throws {
    self.caches = caches
    self.age = age
    event = try NameStatements(db, table: "event", columns: ["id"])
    device = try NameStatements(db, table: "device", columns: ["id"])
    text = try NameStatements(db, table: "text", columns: ["id"])
    instance = try NameStatements(db, table: "instance", columns: ["id", "kind", "surface"])
    kind = try NameStatements(db, table: "kind", columns: ["id"], marked: false)
    policy = try NameStatements(db, table: "policy", columns: ["version", "hash"], marked: false)
  }

  func event(_ id: String) throws -> Int64 {
    try event.number(id, in: &caches.events, age: age) { $0.set(1, id) }
  }

  func device(_ id: String) throws -> Int64 {
    try device.number(id, in: &caches.devices, age: age) { $0.set(1, id) }
  }

  func text(_ value: String) throws -> Int64 {
    try text.number(value, in: &caches.texts, age: age) { $0.set(1, value) }
  }

  func kind(_ name: String) throws -> Int64 {
    try kind.number(name, in: &caches.kinds, age: age) { $0.set(1, name) }
  }

  func instance(_ id: String, kind: Int64, surface: Surface) throws -> Int64 {
    let name = InstanceName(id: id, kind: kind, surface: surface.code)
    return try instance.number(name, in: &caches.instances, age: age) {
      $0.set(1, id)
      $0.set(2, kind)
      $0.set(3, name.surface)
    }
  }

  func policy(_ reference: PolicyReference) throws -> Int64 {
    try policy.number(reference, in: &caches.policies, age: age) {
      $0.set(1, reference.version)
      $0.set(2, reference.hash)
    }
  }
}

/// The three statements that keep one table of names.
private struct NameStatements {
  let db: Database
  let find: BoundStatement
  let insert: BoundStatement
  /// Nil for tables whose rows are never thrown away.
  let mark: BoundStatement?
  let columnCount: Int32

  init(_ db: Database, table: String, columns: [String], marked: Bool = true) throws {
    self.db = db
    columnCount = Int32(columns.count)
    let condition = columns.map { "\($0) = ?" }.joined(separator: " AND ")
    find = try BoundStatement(db, "SELECT n\(marked ? ", last" : "") FROM \(table) WHERE \(condition)")
    let all = marked ? columns + ["last"] : columns
    let places = all.map { _ in "?" }.joined(separator: ", ")
    insert = try BoundStatement(db, "INSERT INTO \(table) (\(all.joined(separator: ", "))) VALUES (\(places))")
    mark = marked ? try BoundStatement(db, "UPDATE \(table) SET last = ? WHERE n = ?") : nil
  }

  func number<Key>(
    _ key: Key, in cache: inout NameCache<Key>, age: Int64, bind: (BoundStatement) -> Void
  ) throws -> Int64 {
    if let entry = cache.entry(key), entry.last >= age { return entry.n }
    find.begin()
    bind(find)
    let n: Int64
    if let found = try find.first() {
      n = found.0
      if let mark, found.1 < age { try mark.run(age, n) }
    } else {
      insert.begin()
      bind(insert)
      if mark != nil { insert.set(columnCount + 1, age) }
      try insert.run()
      n = db.lastInsertedRowID
    }
    cache.set(key, NameCache.Entry(n: n, last: mark == nil ? .max : age))
    return n
  }
}
