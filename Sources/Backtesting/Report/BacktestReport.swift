public import Domain
public import Replay

/// The result of a backtest: for each kind, every policy and baseline strategy against the optimum in hindsight.
public struct BacktestReport: Equatable, Sendable {
  /// The number of events.
  public var events = 0
  /// The number of signals read from a file, without the receipts and looks of modelled devices.
  public var signals = 0
  /// The number of registrations.
  public var devices = 0
  /// The number of instances that a push can reach.
  public var instances = 0
  /// The number of those instances that were measured.
  public var measured = 0
  /// The number of input lines that could not be used.
  public var deadLetters = 0
  /// The first input line that could not be used; nil if there is none.
  public var firstDeadLetter: RefusedLine?
  /// The time of the first event or signal; nil without any.
  public var first: Timestamp?
  /// The log time of the last event or signal; nil without any.
  public var last: Timestamp?
  /// The model of the devices.
  public var deviceModel = DeviceModel()
  /// The totals of each policy, in the order given.
  public var commands: [Commands] = []
  /// The results by kind, in the order of the first policy.
  public var kinds: [Kind] = []
  /// The results against limits that instances share, for each policy that has such limits.
  public var shared: [Shared] = []

  /// Creates an empty report.
  public init() {}

  /// The totals of one policy's planner.
  public struct Commands: Equatable, Sendable {
    /// The name of the policy.
    public var name: String
    /// The number of decisions.
    public var decisions: Int
    /// The number of commands.
    public var commands: Int
    /// The number of receipts that devices sent for pushes that reloaded a widget.
    public var receipts: Int
    /// The counts of each surface with a decision, in the order of `Surface.allCases`.
    public var surfaces: [SurfaceCounts]
    /// The recount of each ledger with a limit.
    public var ledgers: [LedgerRecheck]
    /// The fates of the Live Activities that pushes started.
    package var activities: ModelledActivities.Fates
    /// The number of activities that pushes did not update or end at the last record, as far as the planner knows.
    public var zombies: Int

    /// The failures and early ends among the Live Activities that pushes started, for people: those with a count.
    public var activityFates: [(label: String, count: Int)] {
      [
        ("starts not shown", activities.notShown), ("without a token", activities.withoutToken),
        ("removed by a person", activities.removed), ("pushes refused", activities.refused),
        ("zombies for the planner at the end", zombies),
      ].filter { $0.count > 0 }
    }
  }

  /// The decisions and commands of one policy's planner for one surface.
  public struct SurfaceCounts: Equatable, Sendable {
    public var surface: Surface
    /// The number of commands.
    public var commands: Int
    /// The number of commands that start a Live Activity.
    public var starts: Int
    /// The number of commands that update a Live Activity or a channel.
    public var updates: Int
    /// The number of commands that end a Live Activity.
    public var ends: Int
    /// The number of Live Activity commands with priority 10, which are charged.
    public var priority10: Int
    /// The number of Live Activity commands with priority 5, which are free.
    public var priority5: Int
    /// The number of reloads of instances that were charged to them. A push that reloads several instances counts once
    /// for each.
    public var reloads: Int
    /// The number of those reloads that showed nothing new.
    public var reloadsWasted: Int
    /// The number of changes that a push delivered, whether it was sent for them or for another change.
    public var told: Int
    /// The number of visible changes that no push delivered.
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

  /// The recount of one ledger from the commands.
  public struct LedgerRecheck: Equatable, Sendable {
    public var ledger: Command.Ledger
    /// The number of charges that the ledgers of this kind could not afford; must be 0. Those of `instance` are reloads
    /// of the measured instances.
    public var over: Int
  }

  /// The result of a policy against an upper bound over all its limits: the day's tokens, the rate of pushes to a
  /// device, and the daily number of an app's pushes.
  public struct Shared: Equatable, Sendable {
    /// The name of the policy.
    public var name: String
    /// The number of samples. One sample is one day of the instances that a push reloads together.
    public var samples: Int
    /// The value shown on the screens, over all samples.
    public var shown: Double
    /// The sum of the optima of single instances, each computed without the limits that it shares with other instances.
    public var sumOfOptima: Double
    /// The upper bound: no plan within the limits shows more (Lagrangian relaxation). The best plan may show less.
    public var upperBound: Double
    /// The mean of value shown ÷ upper bound over the samples. This bound does not include the daily number of an app's
    /// pushes.
    public var capturedMean: Double
    /// The 10th percentile of that share: nine of ten samples reach it.
    public var capturedP10: Double
  }

  /// The looks that saw something wrong, each counted by how wrong the screen was: 0 if it showed the truth, 1 if it was as
  /// wrong as can be.
  public struct WrongLooks: Equatable, Sendable {
    /// The number of instance-days on which reloads could have set right more than 0.01 looks.
    public var samples: Int
    /// The mean over the samples of wrong looks captured: the wrong looks that the plan set right ÷ the most that as
    /// many reloads as the day has tokens could have set right, known only in hindsight. It can be less than 0 if a
    /// screen was left wrong the day before.
    public var capturedMean: Double
    /// The 10th percentile of that share: nine of ten samples reach it. Linear between the two nearest samples.
    public var capturedP10: Double
    /// The quantiles of the same share at 0, 5, 10 … 100 % of the samples: 21 values.
    public var capturedTwentieths: [Double]
    /// The wrong looks a day under the plan, on average over the instance-days on which the truth changed.
    public var perDay: Double
    /// The wrong looks a day without any paid reload; free reloads still happen.
    public var perDayWithout: Double
    /// The least wrong looks a day that as many reloads as the day has tokens could have left, each day beginning with
    /// a right screen.
    public var perDayOptimum: Double
  }

  /// The content that screens really showed. Known if devices have hidden budgets, or if looks are recorded.
  public struct Screen: Equatable, Sendable {
    /// The number of pushes after which the device did not reload the widget. The planner does not learn of it.
    public var refused: Int
    /// The same as `Plan.capturedMean`, by the reloads that devices made instead of those that the planner counts on.
    public var capturedMean: Double
    /// The same as `Plan.capturedP10`, by the reloads that devices made.
    public var capturedP10: Double
    /// The number of looks at the instances.
    public var looks: Int
    /// The number of looks that saw outdated content.
    public var looksStale: Int
    /// The same as `Plan.wrongLooks`, by the reloads that devices made.
    public var wrongLooks: WrongLooks
  }

  /// The results for one kind.
  public struct Kind: Equatable, Sendable {
    /// The name of the kind.
    public var name: String
    /// The half-life of news; nil if news keeps its interest.
    public var halfLife: TimeSpan?
    /// The number of measured instances at which a change arrived.
    public var instances: Int
    /// The number of instance-days on which a change arrived.
    public var instanceDays: Int
    /// The number of visible changes over all instances.
    public var arrivals: Int
    /// The number of instance-days on which the truth of a screen changed.
    public var screenDays: Int
    /// The number of those days with so many changes that not every one could be a candidate of the optimum.
    public var screenDaysThinned: Int
    /// One day of one instance, for a chart; nil if no day is measured.
    public var example: ExampleDay?
    /// The plans: the policies in the order given, then the baselines.
    public var plans: [Plan]
  }

  /// The result of one policy or baseline strategy for one kind.
  public struct Plan: Equatable, Sendable {
    /// The name of the policy or strategy.
    public var name: String
    /// Whether the plan is a policy's; otherwise it is a baseline's.
    public var isPolicy: Bool
    /// The number of tokens that an instance has for a day.
    public var tokens: Int
    /// The least time between two reloads.
    public var minInterval: TimeSpan
    /// The wrong looks, which is what a plan is judged by.
    public var wrongLooks: WrongLooks
    /// The number of instance-days on which at least one change could be shown.
    public var samples: Int
    /// The mean over the samples of value shown ÷ the most that as many reloads as the day has tokens could have shown.
    public var capturedMean: Double
    /// The 10th percentile of that share: nine of ten samples reach it.
    public var capturedP10: Double
    /// The quantiles of the same share at 0, 5, 10 … 100 % of the samples: 21 values.
    public var capturedTwentieths: [Double]
    /// The seconds a day and instance during which a visible change was not shown, weighted by the chance of a look.
    public var staleSecondsPerDay: Double
    /// The number of changes with a relevance of 0.8 and more.
    public var criticalChanges: Int
    /// The number of those changes that were never shown.
    public var criticalNeverShown: Int
    /// The median time until such a change was shown; infinite if half of them were never shown, nil without any.
    public var secondsToFreshP50: Double?
    /// The 95th percentile of that time; infinite if so many were never shown, nil without any.
    public var secondsToFreshP95: Double?
    /// The number of reloads that the plan paid for, over all instance-days.
    public var reloads: Int
    /// The number of those reloads that showed nothing new.
    public var reloadsWasted: Int
    /// The tokens left at the end of a day, on average over instance-days.
    public var tokensUnusedPerDay: Double
    /// The number of instance-days without a reload on which showing something would have had a value.
    public var daysStarved: Int
    /// The number of reloads beyond the budget; must be 0.
    public var overBudget: Int
    /// The mean tokens left at 0, 1 … 24 hours after the start of the day: 25 values.
    public var tokensLeftByHour: [Double]
    /// The value that one more token would have added to the optimum, on average over instance-days.
    public var hindsightPriceMean: Double
    /// The number of reloads that the optimum makes, on average over instance-days.
    public var hindsightReloadsPerDay: Double
    /// The content that screens really showed; nil if that is not known.
    public var screen: Screen?
    /// The changes that count for the objective; nil for a strategy, and for a policy without an objective.
    public var objective: Objective?
  }

  /// The changes that count for the objective of a kind under one policy, and how many of them the best schedule of reloads could have shown
  /// in time, known only in hindsight.
  public struct Objective: Equatable, Sendable {
    /// The time from the arrival of a change until the screen is to show it.
    public var freshWithin: TimeSpan
    /// The share of changes for which that is to hold.
    public var share: Double
    /// The relevance from which on a change counts.
    public var wrongAtLeast: Double
    /// The number of instances with such a change, among those of the sample.
    public var instances: Int
    /// The number of these instances with so many changes that an upper bound stands for the best schedule.
    public var instancesBound: Int
    /// The number of these instances on which the policy showed more than the best schedule is allowed to, because pushes were refused,
    /// and their tokens spent again.
    public var instancesBeyond: Int
    /// The number of changes that counted, by the decisions of the policy.
    public var changes: Int
    /// The number of those that were shown in time, or undone.
    public var met: Int
    /// The number of those that the best schedule with the same tokens and the same minimum interval could have shown in time; not less
    /// than `met`.
    public var possible: Int
  }
}
