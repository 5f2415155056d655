public import Domain
public import Planning
public import Policies

/// The counts of a run of the planner over files.
public struct PlanSummary: Equatable, Sendable {
  /// A verdict with its reason.
  public struct Outcome: Hashable, Sendable {
    /// The verdict of a decision.
    public var verdict: Verdict
    /// The reason code of the decision.
    public var reason: Reason
  }

  /// The number of lines that were read as registrations.
  public var registrations = 0
  /// The number of lines that were read as events.
  public var events = 0
  /// The number of lines that were read as signals.
  public var signals = 0
  /// The number of ticks that the run planned because a timer was due.
  public var ticks = 0
  /// The number of events and signals whose time was earlier than log time. They were planned at log time.
  public var outOfOrder = 0
  /// The number of lines that could not be used, in all files.
  public var deadLetters = 0
  /// The number of lines that could not be used in the file of the registrations.
  public var refusedRegistrations = 0
  /// The number of lines that could not be used in the file of the events.
  public var refusedEvents = 0
  /// The number of lines that could not be used in the file of the signals.
  public var refusedSignals = 0
  /// The number of events with more interest keys than an event may have. Subscribers to the further keys were skipped.
  public var eventsWithKeysLeftOut = 0
  /// The first few lines that could not be used.
  public var firstDeadLetters: [RefusedLine] = []
  /// The number of devices registered at the end.
  public var devices = 0
  /// The number of instances registered at the end.
  public var instances = 0
  /// The number of decisions.
  public var decisions = 0
  /// The number of decisions by outcome, the most frequent outcome first.
  public var outcomes: [(outcome: Outcome, count: Int)] = []
  /// The number of commands.
  public var commands = 0
  /// The number of commands by surface, for every surface in the order of `Surface.allCases`.
  public var commandsBySurface: [(surface: Surface, count: Int)] = []
  /// The number of Live Activity and broadcast pushes by the size of their bodies, in the order of `PayloadBand.allCases`.
  /// The last band counts bodies that were too large, which became no commands.
  public var payloads: [(band: PayloadBand, count: Int)] = PayloadBand.allCases.map { ($0, 0) }
  /// The first body that was too large of each kind, for the first few such kinds.
  public var refusedPayloads: [LargePayload] = []
  /// The number of activities that at some time ran and could not be updated or ended.
  public var zombies = 0
  /// The first few activities that could not be updated or ended.
  public var firstZombies: [Zombie] = []
  /// The number of tokens charged by ledger, in the order of `Command.Ledger.allCases`.
  public var charged: [Int] = Command.Ledger.allCases.map { _ in 0 }
  /// The number of (event, instance) pairs that still wait at the end.
  public var pending = 0
  /// The time of the first event or signal; nil without any.
  public var first: Timestamp?
  /// The latest time of an event or signal; nil without any.
  public var last: Timestamp?

  /// Creates a summary of nothing.
  public init() {}

  /// The number of refused lines kept for showing.
  static let firstDeadLettersMax = 5

  /// The number of zombies kept for showing.
  static let firstZombiesMax = 20

  /// The number of kinds of which a refused payload is kept for showing.
  static let refusedPayloadsMax = 5

  /// Compares the JSON of two summaries.
  public static func == (a: PlanSummary, b: PlanSummary) -> Bool { a.json() == b.json() }
}
