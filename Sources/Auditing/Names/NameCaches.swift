import Domain
import GRDB

/// The caches of all tables of names. The store empties them when a write fails or another connection wrote, because
/// their numbers may then no longer exist.
final class NameCaches {
  var events = NameCache<Identifier>()
  var devices = NameCache<Identifier>()
  var texts = NameCache<Identifier>()
  var instances = NameCache<InstanceName>()
  var kinds = NameCache<Identifier>()
  var policies = NameCache<PolicyReference>()

  /// Empties all caches.
  func removeAll() {
    events.removeAll()
    devices.removeAll()
    texts.removeAll()
    instances.removeAll()
    kinds.removeAll()
    policies.removeAll()
  }

  /// Compares the caches with the tables.
  /// - Returns: one sentence for each table that contradicts its cache: the cache has another number for a string, or a
  ///   newer mark.
  func brokenInvariants(_ db: Database) throws -> [String] {
    var broken: [String] = []
    func compare(_ table: String, _ cached: [Identifier: NameCache<Identifier>.Entry], isMarked: Bool = true) throws {
      for (id, entry) in cached {
        let sql = "SELECT n, \(isMarked ? "last" : "\(Int64.max)") FROM \"\(table)\" WHERE id = ?"
        let row = try Row.fetchOne(db, sql: sql, arguments: [id.stored])
        if try row?.integer(0) == entry.n, let last = try row?.integer(1), last >= entry.last { continue }
        broken.append("the cache knows the number and the mark that stand in \(table)")
        return
      }
    }
    try compare("event", events.entries)
    try compare("device", devices.entries)
    try compare("text", texts.entries)
    try compare("kind", kinds.entries, isMarked: false)
    for (name, entry) in instances.entries {
      let row = try Row.fetchOne(db, sql: "SELECT id, kind, surface FROM instance WHERE n = ?", arguments: [entry.n])
      if try row?.identifier(0) != name.id || row?.integer(1) != name.kind || row?.integer(2) != name.surface {
        broken.append("the cache knows the number that stands in instance")
        break
      }
    }
    return broken
  }
}

/// The contents of a row of the table `instance`, which are the key of its cache.
struct InstanceName: Hashable {
  var id: Identifier
  /// The number of the kind in the table `kind`.
  var kind: Int64
  /// The code of the surface.
  var surface: Int64
}
