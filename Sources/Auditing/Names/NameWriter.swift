import Domain
import GRDB

/// Assigns numbers to names within one transaction. A name that is not stored yet is added.
struct NameWriter {
  /// The age (`AuditSchema.ageShift`) of the rows that are being written. Each string that they use is marked with it.
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

  func event(_ id: Identifier) throws -> Int64 {
    try event.number(id, in: &caches.events, age: age) { $0.set(1, id) }
  }

  func device(_ id: Identifier) throws -> Int64 {
    try device.number(id, in: &caches.devices, age: age) { $0.set(1, id) }
  }

  func text(_ value: Identifier) throws -> Int64 {
    try text.number(value, in: &caches.texts, age: age) { $0.set(1, value) }
  }

  func kind(_ name: Identifier) throws -> Int64 {
    try kind.number(name, in: &caches.kinds, age: age) { $0.set(1, name) }
  }

  func instance(_ id: Identifier, kind: Int64, surface: Surface) throws -> Int64 {
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
