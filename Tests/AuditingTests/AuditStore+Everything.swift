import Auditing

extension AuditStore {
  /// Returns every record of a range, in the order of storing.
  func everything(_ range: TimeRange = .all) throws -> [AuditEntry] {
    var entries: [AuditEntry] = []
    try export(range) {
      entries.append($0)
      return true
    }
    return entries
  }
}
