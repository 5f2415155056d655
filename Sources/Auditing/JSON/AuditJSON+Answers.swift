import Domain
import JSON

/// Writes the members of the JSON object of each answer.
extension AuditJSON {
  static func write(_ timeline: DeviceTimeline, to json: inout JSONWriter) {
    json.member("device", timeline.device)
    json.member("known", timeline.isKnown)
    json.member("omitted", timeline.omitted)
    json.array("entries", timeline.entries) { write($0, to: &$1) }
  }

  static func write(_ effect: EventEffect, to json: inout JSONWriter) {
    json.member("event", effect.event)
    json.member("known", effect.isKnown)
    json.members([
      ("decisions", effect.decisions), ("devices", effect.devices), ("commands", effect.commands),
      ("pending", effect.pending),
    ])
    json.time("first", effect.first)
    json.time("last", effect.last)
    json.objects("counts", effect.counts) { count, json in
      json.member("verdict", count.verdict.rawValue)
      json.member("reason", count.reason.rawValue)
      json.member("final", count.final)
      json.member("kind", count.kind)
      json.member("decisions", count.decisions)
      json.list("sampleDevices", count.sampleDevices)
    }
  }

  static func write(_ answer: WhyAnswer, to json: inout JSONWriter) {
    json.member("device", answer.question.device)
    json.member("event", answer.event)
    json.member("deviceKnown", answer.deviceIsKnown)
    json.member("eventKnown", answer.eventIsKnown)
    json.objects("stories", answer.stories) { write($0, to: &$1) }
    json.list("remarks", answer.remarks)
  }

  static func write(_ top: Top, to json: inout JSONWriter) {
    json.member("by", top.key.rawValue)
    json.member("total", top.total)
    json.member("distinct", top.distinct)
    json.objects("rows", top.rows) { row, json in
      json.key(top.key.rawValue)
      json.string(row.name.text)
      json.member("decisions", row.decisions)
    }
  }

  static func write(_ statement: BudgetStatement, to json: inout JSONWriter) {
    json.member("device", statement.device)
    json.member("known", statement.isKnown)
    json.time("from", statement.range.from)
    json.time("to", statement.range.to)
    json.member("utcOffsetMinutes", statement.utcOffset.microseconds / 60_000_000)
    json.members([("commands", statement.commands), ("free", statement.free), ("omitted", statement.omitted)])
    json.objects("accounts", statement.accounts) { write($0, to: &$1) }
  }

  static func write(_ summary: AuditSummary, _ shares: [Identifier: Double], to json: inout JSONWriter) {
    json.members([
      ("events", summary.events), ("devices", summary.devices), ("decisions", summary.decisions),
      ("finalDecisions", summary.finalDecisions),
    ])
    json.member("eventsAreEstimated", summary.eventsAreEstimated)
    json.member("devicesAreEstimated", summary.devicesAreEstimated)
    json.objects("outcomes", summary.outcomes) { outcome, json in
      json.member("verdict", outcome.verdict.rawValue)
      json.member("reason", outcome.reason.rawValue)
      json.member("decisions", outcome.decisions)
      json.member("final", outcome.final)
    }
    json.member("commands", summary.commands)
    json.counts("surfaces", summary.surfaces.lazy.map { ($0.surface.rawValue, $0.commands) })
    json.counts("charged", summary.charged.lazy.map { ($0.ledger.rawValue, $0.tokens) })
    json.objects("attainments", summary.attainments) { write($0, share: shares[$0.kind], to: &$1) }
    json.time("first", summary.first)
    json.time("last", summary.last)
    json.member("recordsMissing", summary.recordsMissing)
    json.objects("holes", summary.holes) { write($0, to: &$1) }
    json.member("bytes", summary.bytes)
  }

  static func write(_ health: StoreHealth, to json: inout JSONWriter) {
    json.time("first", health.times.map { Timestamp(microseconds: $0.lowerBound) })
    json.time("last", health.times.map { Timestamp(microseconds: $0.upperBound) })
    json.member("recordsMissing", health.recordsMissing)
    json.objects("holes", health.holes) { write($0, to: &$1) }
  }

  private static func write(_ hole: AuditHole, to json: inout JSONWriter) {
    json.member("topic", hole.topic.rawValue)
    json.member("partition", Int(hole.partition))
    json.member("first", hole.first)
    json.member("next", hole.next)
    if let line = hole.line { json.member("line", line) }
    json.member("cause", hole.cause.rawValue)
    if !hole.reason.isEmpty { json.member("reason", hole.reason) }
  }

  private static func write(_ attainment: AuditSummary.Attainment, share: Double?, to json: inout JSONWriter) {
    json.member("kind", attainment.kind)
    if let share { json.member("objective", share) }
    json.objects("windows", attainment.counts) { counts, json in
      if let minutes = counts.minutes { json.member("minutes", minutes) }
      json.member("changes", counts.changes)
      json.member("inTime", counts.inTime)
      if let share, let burn = counts.burn(share: share) { json.member("burn", burn) }
    }
  }

  private static func write(_ story: WhyAnswer.Story, to json: inout JSONWriter) {
    json.member("instance", story.instance)
    json.member("kind", story.kind)
    json.member("surface", story.surface.rawValue)
    json.member("outcome", story.outcome)
    if let command = story.command {
      json.key("command")
      command.encode(to: &json)
    }
    json.objects("steps", story.steps) { step, json in
      json.key("decision")
      step.decision.encode(to: &json)
      json.member("explanation", step.explanation)
      json.member("counterfactual", step.counterfactual)
    }
    json.objects("charges", story.charges) { charge, json in
      json.member("ledger", charge.ledger.rawValue)
      json.member("owner", charge.owner)
      json.member("before", charge.before)
      json.member("after", charge.after)
    }
  }

  private static func write(_ account: BudgetStatement.Account, to json: inout JSONWriter) {
    json.member("ledger", account.ledger.rawValue)
    json.member("owner", account.owner)
    json.member("opening", account.opening)
    json.member("closing", account.closing)
    json.objects("lines", account.lines) { line, json in
      json.time("at", line.at)
      json.member("command", line.command)
      json.list("kinds", line.kinds)
      json.members([("events", line.events), ("change", line.change), ("left", line.left)])
    }
    json.objects("days", account.days) { day, json in
      json.member("date", day.date)
      json.member("charges", day.charges)
    }
  }
}

extension AuditJSON {
  static func write(_ started: StartedActivities, to json: inout JSONWriter) {
    json.member("starts", started.starts)
    json.member("omitted", started.omitted)
    json.member("tooNew", started.tooNew)
    json.objects("zombies", started.zombies) { zombie, json in
      json.member("device", zombie.device)
      json.member("subject", zombie.subject)
      json.member("kind", zombie.kind)
      json.time("since", zombie.since)
      json.member("command", zombie.command)
      json.member("decisionsSince", zombie.decisionsSince)
      json.member("cause", zombie.cause.rawValue)
    }
  }
}
