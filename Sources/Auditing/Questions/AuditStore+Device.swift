public import Domain

extension AuditStore {
  /// Returns the latest `limit` decisions and commands of a device in a range.
  /// - Throws: `AuditError` when the file cannot be read.
  public func device(_ id: Identifier, range: TimeRange = .all, limit: Int = 100) throws(AuditError) -> DeviceTimeline {
    try read { db in
      let words = WordReader(db)
      var found = LatestDecisions(limit: limit)
      try db.scan(.device, id, in: range, words: words) {
        try found.add($0)
        return true
      }
      let decisions = found.sorted()
      let commands = try db.commands(toDevice: id, in: range, words: words)
      guard try found.count + commands.count > 0 || db.isKnown(device: id, words: words) else {
        return DeviceTimeline(device: id, isKnown: false, entries: [], omitted: 0)
      }
      let total = found.count + commands.count
      // The two lists are merged from the end, so that only the entries that are returned are made.
      var entries: [AuditEntry] = []
      var d = decisions.count
      var c = commands.count
      while entries.count < max(0, limit), d + c > 0 {
        if d > 0, c == 0 || decisions[d - 1].at.microseconds >= commands[c - 1].at {
          d -= 1
          entries.append(.decision(decisions[d]))
        } else {
          c -= 1
          entries.append(.command(try commands[c].command(words)))
        }
      }
      return DeviceTimeline(device: id, isKnown: true, entries: entries.reversed(), omitted: total - entries.count)
    }
  }

  /// Returns the decisions that name a command, oldest first, at most `limit`.
  /// - Throws: `AuditError` when the file cannot be read.
  public func decisions(ofCommand id: Identifier, limit: Int = 100) throws(AuditError) -> [Decision] {
    try read { try $0.decisions(ofCommand: id, words: WordReader($0), limit: limit) }
  }

  /// Returns the command with an id, or nil if it is not stored.
  /// - Throws: `AuditError` when the file cannot be read.
  public func command(_ id: Identifier) throws(AuditError) -> Command? {
    try read { try $0.command(id: id, words: WordReader($0)) }
  }
}
