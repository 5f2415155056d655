public import Domain
public import Replay

/// What a simulation found: per kind, every policy and baseline against the hindsight optimum.
public struct BacktestReport: Equatable, Sendable {
  public var events = 0
  /// Read from a file; receipts and looks of simulated devices are not among them.
  public var signals = 0
  public var devices = 0
  /// Instances that a push can reach, and how many of them were measured.
  public var instances = 0
  public var measured = 0
  public var deadLetters = 0
  public var firstDeadLetter: RefusedLine?
  public var first: Timestamp?
  public var last: Timestamp?
  public var deviceModel = DeviceModel()
  public var commands: [Commands] = []
  /// In the order of names.
  public var kinds: [Kind] = []
  /// Per policy under which limits bind that instances share; empty where only the day's tokens of single instances do.
  public var shared: [Shared] = []

  public init() {}

  /// What a policy's planner did in all.
  public struct Commands: Equatable, Sendable {
    public var name: String
    public var decisions: Int
    public var commands: Int
    /// Fetches that the devices reported because of a push.
    public var receipts: Int
    /// Surfaces that were decided about.
    public var surfaces: [SurfaceCounts]
    /// Ledgers with a limit.
    public var ledgers: [LedgerCount]
    /// Activities that were started and handed over no update token.
    public var startsWithoutToken: Int
    /// Activities that at the end of the run nobody could update or end.
    public var zombies: Int
  }

  /// What one policy's planner told one surface.
  public struct SurfaceCounts: Equatable, Sendable {
    public var surface: Surface
    public var commands: Int
    /// Live Activities and channels: by what the push does, and by priority; 10 is charged, 5 is free.
    public var starts: Int
    public var updates: Int
    public var ends: Int
    public var priority10: Int
    public var priority5: Int
    /// Instances reloaded at a price, and those of them that had nothing new to show.
    public var reloads: Int
    public var reloadsWasted: Int
    /// Changes that were told, with a push of their own or another's.
    public var told: Int
    /// Visible changes that no push told.
    public var neverTold: Int

    init(surface: Surface, tally: SurfaceTally) {
      self.surface = surface
      commands = tally.commands
      starts = tally.starts
      updates = tally.updates
      ends = tally.ends
      priority10 = tally.priority10
      priority5 = tally.priority5
      reloads = tally.reloads
      reloadsWasted = tally.reloadsWasted
      told = tally.told
      neverTold = tally.neverTold
    }
  }

  /// Commands beyond what a ledger had; recounted from the commands, must be 0.
  public struct LedgerCount: Equatable, Sendable {
    public var ledger: Command.Ledger
    public var over: Int
  }

  /// A policy against an upper bound over several levels of budget: day's tokens, pushes a device, app.
  public struct Shared: Equatable, Sendable {
    public var name: String
    /// Days of instances that are reloaded together.
    public var samples: Int
    /// Value shown on the screens, in all.
    public var shown: Double
    /// The optima of single instances, each as if it had the device and the app for itself.
    public var sumOfOptima: Double
    /// No plan within the limits shows more: Lagrangian bound. Whether one shows as much is not known.
    public var upperBound: Double
    /// Value shown ÷ upper bound, by day of instances that are reloaded together; without the app's number.
    public var capturedMean: Double
    public var capturedP10: Double
  }

  /// What really was on the screens, where devices have budgets of their own or looks are known.
  public struct Screen: Equatable, Sendable {
    /// Pushes that the device accepted and did nothing about, which the planner is not told.
    public var refused: Int
    /// As `Plan.capturedMean` and `capturedP10`, by what the devices did instead of what the planner believes.
    public var capturedMean: Double
    public var capturedP10: Double
    /// Looks at the instances, and those that saw something outdated.
    public var looks: Int
    public var looksStale: Int
  }

  public struct Kind: Equatable, Sendable {
    public var name: String
    public var halfLife: TimeSpan
    /// Measured instances to which something came.
    public var instances: Int
    /// Instance-days on which something came.
    public var instanceDays: Int
    /// Visible changes, over all instances.
    public var arrivals: Int
    /// Policies in the order given, then baselines.
    public var plans: [Plan]
  }

  public struct Plan: Equatable, Sendable {
    public var name: String
    public var isPolicy: Bool
    /// Tokens a day and instance.
    public var tokens: Int
    public var minInterval: TimeSpan
    /// Instance-days on which anything could be captured.
    public var samples: Int
    /// Value shown ÷ the most that so many reloads could have shown, by instance-day.
    public var capturedMean: Double
    public var capturedP10: Double
    /// At 0, 5, 10 … 100 % of the instance-days.
    public var capturedTwentieths: [Double]
    /// Per instance-day, weighted by the chance of a look.
    public var staleSecondsPerDay: Double
    /// Changes of relevance 0.8 and more.
    public var criticalChanges: Int
    public var criticalNeverShown: Int
    /// Infinite where so many were never shown; nil where there were none.
    public var secondsToFreshP50: Double?
    public var secondsToFreshP95: Double?
    public var reloads: Int
    /// Showed nothing new.
    public var reloadsWasted: Int
    public var tokensUnusedPerDay: Double
    /// Instance-days without a reload though something came.
    public var daysStarved: Int
    /// Must be 0.
    public var overBudget: Int
    /// Mean at 0, 1 … 24 hours after the day's anchor.
    public var tokensLeftByHour: [Double]
    /// What one token more would have brought, and the reloads that the optimum makes; means over instance-days.
    public var hindsightPriceMean: Double
    public var hindsightReloadsPerDay: Double
    public var screen: Screen?
  }
}
