public import Domain
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
  /// - Parameters:
  ///   - summary: The totals.
  ///   - shares: The shares of the objectives, by kind, for the rates at which error budgets are spent.
  public static func render(_ summary: AuditSummary, shares: [Identifier: Double] = [:]) -> String {
    text { write(summary, shares, to: &$0) }
  }
  /// Returns the started Live Activities as JSON: the number of starts, and the zombies, which no push can update or
  /// end.
  public static func render(_ started: StartedActivities) -> String { text { write(started, to: &$0) } }

  /// Returns the holes of a store, and the time that it covers, as JSON.
  public static func render(_ health: StoreHealth) -> String { text { write(health, to: &$0) } }
  /// Returns a decision as JSON.
  public static func render(_ decision: Decision) -> String {
    var writer = JSONWriter()
    decision.encode(to: &writer)
    return writer.indentedText
  }
  /// Returns a command with the decisions that name it as JSON.
  /// - Parameters:
  ///   - command: The command; nil if only its decisions are stored.
  ///   - decisions: The decisions, oldest first.
  public static func render(_ command: Command?, decisions: [Decision]) -> String {
    text { json in
      if let command {
        json.key("command")
        command.encode(to: &json)
      }
      json.array("decisions", decisions) { $0.encode(to: &$1) }
    }
  }
  /// Returns a part of a list of decisions as JSON.
  /// - Parameters:
  ///   - part: The part.
  ///   - next: The address of the next part; nil at the end.
  public static func render(_ part: DecisionPart, next: String?) -> String {
    text { json in
      json.array("decisions", part.decisions) { $0.decision.encode(to: &$1) }
      json.member("next", next)
    }
  }

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
