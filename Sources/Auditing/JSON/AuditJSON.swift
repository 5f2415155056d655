import Domain
public import JSON

/// Writes answers as JSON, with times in RFC 3339. Decisions and commands have the same members as on their topics.
public enum AuditJSON {
  /// Returns an entry in the JSON form of its topic: one line without the line feed.
  public static func line(_ entry: AuditEntry) -> String {
    var writer = JSONWriter()
    write(entry, to: &writer)
    return writer.text
  }

  /// Writes an entry in the JSON form of its topic.
  public static func write(_ entry: AuditEntry, to writer: inout JSONWriter) {
    switch entry {
    case .decision(let decision): decision.encode(to: &writer)
    case .command(let command): command.encode(to: &writer)
    }
  }

  /// Returns the decisions and commands of a device as JSON.
  public static func render(_ timeline: DeviceTimeline) -> String { text { write(timeline, to: &$0) } }
  /// Returns the decisions about an event as JSON.
  public static func render(_ effect: EventEffect) -> String { text { write(effect, to: &$0) } }
  /// Returns the stories of an event on a device as JSON.
  public static func render(_ answer: WhyAnswer) -> String { text { write(answer, to: &$0) } }
  /// Returns the most frequent values as JSON.
  public static func render(_ top: Top) -> String { text { write(top, to: &$0) } }
  /// Returns the charges of a device as JSON.
  public static func render(_ statement: BudgetStatement) -> String { text { write(statement, to: &$0) } }
  /// Returns the totals of a store as JSON.
  public static func render(_ summary: AuditSummary) -> String { text { write(summary, to: &$0) } }
  /// Returns the started Live Activities as JSON: the number of starts, and the zombies, which no push can update or
  /// end.
  public static func render(_ started: StartedActivities) -> String { text { write(started, to: &$0) } }

  /// Returns the text of an object.
  private static func text(_ members: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    writer.object(members)
    return writer.indentedText
  }
}

extension JSONWriter {
  /// Writes a member that is a time, unless it is nil.
  mutating func time(_ key: StaticString, _ time: Timestamp?) {
    if let time { member(key, Figure.time(time)) }
  }
}
