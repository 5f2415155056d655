public import Domain

/// The totals of a whole store.
public struct AuditSummary: Equatable, Sendable {
  /// The number of holes that a summary lists.
  /// - Beyond: the records of further holes are only counted.
  static let holesMax = 100

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

  /// The changes of one kind that count for its objective.
  public struct Attainment: Equatable, Sendable {
    /// The name of the kind.
    public var kind: Identifier
    /// The changes of each of `windows`. They end with the newest record, or at the time that was asked for, to the microsecond.
    public var counts: [WindowCounts]

    /// The changes of one window.
    public struct WindowCounts: Equatable, Sendable {
      /// The length in minutes; nil for the whole store.
      public var minutes: Int?
      /// The number of changes that were closed.
      public var changes = 0
      /// The number of those that were shown, or undone, in time.
      public var inTime = 0

      /// Returns the rate at which the error budget is spent: 1 if the changes miss the objective as often as it allows; nil
      /// without changes.
      /// - Parameter share: The share of the objective, below 1.
      public func burn(share: Double) -> Double? {
        changes == 0 ? nil : (1 - Double(inTime) / Double(changes)) / (1 - share)
      }
    }

    /// The windows, in minutes, as the alerts of `deploy/observability` have them: 5 minutes and an hour, 30 minutes and 6 hours, 6 hours and
    /// 3 days, the shortest first; nil stands for the whole store, and comes last.
    public static let windows: [Int?] = [5, 30, 60, 360, 4320, nil]
  }

  /// The number of events with a decision. An event that interests no device has none.
  public var events: Int
  /// Whether `events` is an estimate, as it is from 2,048 on. It is within 4.4 % of the true number in 95 of 100 stores.
  public var eventsAreEstimated: Bool
  /// The number of devices with a decision.
  public var devices: Int
  /// Whether `devices` is an estimate, likewise.
  public var devicesAreEstimated: Bool
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
  /// The attainment of the kinds that had an objective, by name.
  public var attainments: [Attainment]
  /// The time of the oldest record; nil in an empty store.
  public var first: Timestamp?
  /// The time of the newest record; nil in an empty store.
  public var last: Timestamp?
  /// The ranges of records that the store will never have, by topic, partition and offset; at most `holesMax`.
  public var holes: [AuditHole] = []
  /// The number of records in all stored holes, those that `holes` leaves out included.
  public var recordsMissing = 0
  /// The number of bytes of the file that are in use, without free pages and the write-ahead log.
  public var bytes: Int64
}
