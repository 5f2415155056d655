public import Domain
import GRDB

/// A whole store at a glance.
public struct AuditSummary: Equatable, Sendable {
  /// Decisions with one verdict and reason.
  public struct Outcome: Equatable, Sendable {
    public var verdict: Verdict
    public var reason: Reason
    public var decisions: Int
    /// Those that close their (event, instance).
    public var final: Int
  }
  public struct SurfaceCount: Equatable, Sendable {
    public var surface: Surface
    public var commands: Int
  }
  public struct LedgerCount: Equatable, Sendable {
    public var ledger: Command.Ledger
    public var tokens: Int
  }

  /// Different events and devices that the store knows: those with a decision. An event that nobody listens to has none.
  public var events: Int
  public var devices: Int
  public var decisions: Int
  public var finalDecisions: Int
  /// Most frequent first.
  public var outcomes: [Outcome]
  public var commands: Int
  /// In order of surface.
  public var surfaces: [SurfaceCount]
  /// In order of ledger.
  public var charged: [LedgerCount]
  public var first: Timestamp?
  public var last: Timestamp?
  public var bytes: Int64
}

extension AuditStore {
  /// A whole store at a glance, from its counts: quick at any size. `events` and `devices` may include some
  /// that retention has just emptied.
  public func summary() throws(AuditError) -> AuditSummary {
    try read { db in
      func count(_ table: String) throws -> Int { try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? 0 }
      let span = try Row.fetchOne(db, sql: "SELECT min(atMin), max(atMax) FROM block")
      var summary = AuditSummary(
        events: try count("event"), devices: try count("device"), decisions: 0,
        finalDecisions: 0, outcomes: [], commands: 0, surfaces: [], charged: [],
        first: try span?.optionalInteger(0).map { Timestamp(microseconds: $0) },
        last: try span?.optionalInteger(1).map { Timestamp(microseconds: $0) }, bytes: try db.bytesUsed())
      var outcomes: [Int64: AuditSummary.Outcome] = [:]
      for (group, count) in try db.tallies(in: .all) {
        let code = try DecisionCode(code: group.code)
        var outcome =
          outcomes[group.code >> 1]
          ?? AuditSummary.Outcome(verdict: code.verdict, reason: code.reason, decisions: 0, final: 0)
        outcome.decisions = outcome.decisions.addingSaturated(count)
        outcome.final = outcome.final.addingSaturated(code.final ? count : 0)
        outcomes[group.code >> 1] = outcome
      }
      summary.outcomes = outcomes.values.sorted {
        ($1.decisions, $0.reason.code, $0.verdict.code) < ($0.decisions, $1.reason.code, $1.verdict.code)
      }
      summary.decisions = summary.outcomes.reduce(0) { $0.addingSaturated($1.decisions) }
      summary.finalDecisions = summary.outcomes.reduce(0) { $0.addingSaturated($1.final) }
      for row in try Row.fetchAll(
        db, sql: "SELECT surface, sum(count) FROM commandTally WHERE ledger = 0 GROUP BY 1 ORDER BY 1")
      {
        summary.surfaces.append(
          AuditSummary.SurfaceCount(
            surface: try Surface(code: row.integer(0)), commands: try row.integer(1, as: Int.self)))
      }
      summary.commands = summary.surfaces.reduce(0) { $0.addingSaturated($1.commands) }
      for row in try Row.fetchAll(
        db, sql: "SELECT ledger, sum(count) FROM commandTally WHERE ledger > 0 GROUP BY 1 ORDER BY 1")
      {
        summary.charged.append(
          AuditSummary.LedgerCount(
            ledger: try Command.Ledger(code: row.integer(0)), tokens: try row.integer(1, as: Int.self)))
      }
      return summary
    }
  }
}
