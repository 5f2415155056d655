public import Domain

extension AuditStore {
  /// Returns the latest `limit` decisions and commands of a device in a range.
  /// - Throws: `AuditError` when the file cannot be read.
  public func device(_ id: Identifier, range: TimeRange = .all, limit: Int = 100) throws(AuditError) -> DeviceTimeline {
    try read { db in
      let names = NameReader(db)
      guard let device = try names.number(id, in: .device) else {
        return DeviceTimeline(device: id, isKnown: false, entries: [], omitted: 0)
      }
      let decisions = try db.decisions(ofDevice: device, in: range)
      let commands = try db.commands(toDevice: device, in: range)
      let total = decisions.count + commands.count
      // The two lists are merged from the end, so that names are only looked up for the entries that are returned.
      var entries: [AuditEntry] = []
      var d = decisions.count
      var c = commands.count
      while entries.count < max(0, limit), d + c > 0 {
        if d > 0, c == 0 || decisions[d - 1].at >= commands[c - 1].at {
          d -= 1
          entries.append(.decision(try decisions[d].decision(names)))
        } else {
          c -= 1
          entries.append(.command(try commands[c].command(names)))
        }
      }
      return DeviceTimeline(device: id, isKnown: true, entries: entries.reversed(), omitted: total - entries.count)
    }
  }

  /// Returns the decisions that name a command, oldest first, at most `limit`.
  /// - Throws: `AuditError` when the file cannot be read.
  public func decisions(ofCommand id: Identifier, limit: Int = 100) throws(AuditError) -> [Decision] {
    try read { try $0.decisions(ofCommand: id, names: NameReader($0), limit: limit) }
  }

  /// Returns the command with an id, or nil if it is not stored.
  /// - Throws: `AuditError` when the file cannot be read.
  public func command(_ id: Identifier) throws(AuditError) -> Command? {
    try read { try $0.command(id: id, names: NameReader($0)) }
  }
}
