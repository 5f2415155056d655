import Domain

extension AuditJSON {
  /// An entry in the JSON form of its topic.
  static func value(_ entry: AuditEntry) -> Value { Value(json: line(entry)) }

  static func value(_ timeline: DeviceTimeline) -> Value {
    .object([
      "device": .string(timeline.device), "known": .bool(timeline.isKnown), "omitted": .count(timeline.omitted),
      "entries": .array(timeline.entries.map(value)),
    ])
  }

  static func value(_ effect: EventEffect) -> Value {
    .members([
      "event": .string(effect.event), "known": .bool(effect.isKnown), "decisions": .count(effect.decisions),
      "devices": .count(effect.devices), "commands": .count(effect.commands), "pending": .count(effect.pending),
      "first": effect.first.map { .time($0) }, "last": effect.last.map { .time($0) },
      "counts": .array(
        effect.counts.map {
          .object([
            "verdict": .string($0.verdict.rawValue), "reason": .string($0.reason.rawValue), "final": .bool($0.final),
            "kind": .string($0.kind), "decisions": .count($0.decisions), "sampleDevices": .strings($0.sampleDevices),
          ])
        }),
    ])
  }

  static func value(_ answer: WhyAnswer) -> Value {
    .members([
      "device": .string(answer.question.device), "event": answer.event.map { .string($0) },
      "deviceKnown": .bool(answer.deviceIsKnown), "eventKnown": .bool(answer.eventIsKnown),
      "stories": .array(answer.stories.map(value)), "remarks": .strings(answer.remarks),
    ])
  }

  static func value(_ top: Top) -> Value {
    .object([
      "by": .string(top.key.rawValue), "total": .count(top.total), "distinct": .count(top.distinct),
      "rows": .array(
        top.rows.map { .object([top.key.rawValue: .string($0.name), "decisions": .count($0.decisions)]) }),
    ])
  }

  static func value(_ statement: BudgetStatement) -> Value {
    .members([
      "device": .string(statement.device), "known": .bool(statement.isKnown),
      "from": statement.range.from.map { .time($0) }, "to": statement.range.to.map { .time($0) },
      "utcOffsetMinutes": .integer(statement.utcOffset.microseconds / 60_000_000),
      "commands": .count(statement.commands), "free": .count(statement.free), "omitted": .count(statement.omitted),
      "accounts": .array(statement.accounts.map(value)),
    ])
  }

  static func value(_ summary: AuditSummary) -> Value {
    .members([
      "events": .count(summary.events), "devices": .count(summary.devices),
      "decisions": .count(summary.decisions), "finalDecisions": .count(summary.finalDecisions),
      "outcomes": .array(
        summary.outcomes.map {
          .object([
            "verdict": .string($0.verdict.rawValue), "reason": .string($0.reason.rawValue),
            "decisions": .count($0.decisions), "final": .count($0.final),
          ])
        }), "commands": .count(summary.commands),
      "surfaces": .object(
        Dictionary(summary.surfaces.map { ($0.surface.rawValue, .count($0.commands)) }) { first, _ in first }),
      "charged": .object(
        Dictionary(summary.charged.map { ($0.ledger.rawValue, .count($0.tokens)) }) { first, _ in first }),
      "first": summary.first.map { .time($0) }, "last": summary.last.map { .time($0) },
      "bytes": .integer(summary.bytes),
    ])
  }

  private static func value(_ story: WhyAnswer.Story) -> Value {
    .members([
      "instance": .string(story.instance), "kind": .string(story.kind), "surface": .string(story.surface.rawValue),
      "outcome": .string(story.outcome), "command": story.command.map { value(.command($0)) },
      "steps": .array(
        story.steps.map {
          .members([
            "decision": value(.decision($0.decision)), "explanation": .string($0.explanation),
            "counterfactual": $0.counterfactual.map { .string($0) },
          ])
        }),
      "charges": .array(
        story.charges.map {
          .object([
            "ledger": .string($0.ledger.rawValue), "owner": .string($0.owner), "before": .count($0.before),
            "after": .count($0.after),
          ])
        }),
    ])
  }

  private static func value(_ account: BudgetStatement.Account) -> Value {
    .object([
      "ledger": .string(account.ledger.rawValue), "owner": .string(account.owner), "opening": .count(account.opening),
      "closing": .count(account.closing),
      "lines": .array(
        account.lines.map {
          .object([
            "at": .time($0.at), "command": .string($0.command), "kinds": .strings($0.kinds),
            "events": .count($0.events),
            "refilled": .count($0.refilled), "left": .count($0.left),
          ])
        }), "days": .array(account.days.map { .object(["date": .string($0.date), "charges": .count($0.charges)]) }),
    ])
  }
}
