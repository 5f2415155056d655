public import Domain

/// The totals of a whole store.
public struct AuditSummary: Equatable, Sendable {
  /// The counts of the decisions with one verdict and reason.
  public struct Outcome: Equatable, Sendable {
    public var verdict: Verdict
    public var reason: Reason
    /// The number of decisions.
    public var decisions: Int
    /// The number of final decisions among them.
    public var final: Int
  }
  /// The number of commands of one surface.
  public struct SurfaceCount: Equatable, Sendable {
    public var surface: Surface
    /// The number of commands.
    public var commands: Int
  }
  /// The tokens charged to one kind of ledger.
  public struct LedgerCount: Equatable, Sendable {
    public var ledger: Command.Ledger
    /// The number of tokens charged.
    public var tokens: Int
  }

  /// The number of events with a decision. An event that interests no device has none.
  public var events: Int
  /// The number of devices with a decision.
  public var devices: Int
  /// The number of all decisions.
  public var decisions: Int
  /// The number of final decisions.
  public var finalDecisions: Int
  /// The decisions by verdict and reason, the most frequent first.
  public var outcomes: [Outcome]
  /// The number of all commands.
  public var commands: Int
  /// The commands by surface, in the order of the surfaces' codes.
  public var surfaces: [SurfaceCount]
  /// The charges by ledger, in the order of the ledgers' codes.
  public var charged: [LedgerCount]
  /// The time of the oldest record; nil in an empty store.
  public var first: Timestamp?
  /// The time of the newest record; nil in an empty store.
  public var last: Timestamp?
  /// The ranges of records that the store will never have, by topic, partition and offset; at most
  /// `AuditHole.listedMax`.
  public var holes: [AuditHole] = []
  /// The number of records in all stored holes, those that `holes` leaves out included.
  public var recordsMissing = 0
  /// The number of bytes of the file that are in use, without free pages and the write-ahead log.
  public var bytes: Int64
}
