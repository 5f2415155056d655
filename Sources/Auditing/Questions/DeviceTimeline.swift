public import Domain
import GRDB

/// What happened to one device.
public struct DeviceTimeline: Equatable, Sendable {
  public var device: String
  /// Whether the store has ever seen it.
  public var isKnown: Bool
  /// Oldest first; a command stands before the decisions of the same instant.
  public var entries: [AuditEntry]
  /// Entries of the range that are older than the first one here.
  public var omitted: Int
}

/// A decision or a command.
public enum AuditEntry: Equatable, Sendable {
  case decision(Decision)
  case command(Command)

  public var at: Timestamp {
    switch self {
    case .decision(let decision): decision.at
    case .command(let command): command.at
    }
  }
}

extension AuditStore {
  /// The decisions and commands of a device, the latest `limit` of the range.
  public func device(_ id: String, range: TimeRange = .all, limit: Int = 100) throws(AuditError) -> DeviceTimeline {
    try read { db in
      let names = NameReader(db)
      guard let device = try names.number(id, in: .device) else {
        return DeviceTimeline(device: id, isKnown: false, entries: [], omitted: 0)
      }
      let decisions = try db.decisions(ofDevice: device, in: range)
      let commands = try db.commands(toDevice: device, in: range)
      let total = decisions.count + commands.count
      // Merged from the end, so that names are only looked up for what is shown.
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

  /// The decisions that a command carries, oldest first.
  public func decisions(ofCommand id: String, limit: Int = 100) throws(AuditError) -> [Decision] {
    try read { try $0.decisions(ofCommand: id, names: NameReader($0), limit: limit) }
  }

  /// A command by its id; nil where it is not stored.
  public func command(_ id: String) throws(AuditError) -> Command? {
    try read { try $0.command(id: id, names: NameReader($0)) }
  }
}
