public import Domain

/// The limits of a platform: each number with its source and the confidence in it.
public struct BudgetProfile: Equatable, Sendable {
  /// The name of the profile.
  public var name: String
  /// The limit on reloads of one widget instance, for kinds whose `budget` gives none.
  public var instanceReloads: PerDay
  /// Whether the reloads of a widget's own timeline count among `instanceReloads`.
  public var timelineReloads: TimelineReloads
  /// The limit on WidgetKit pushes to one device.
  public var devicePushes: Rate
  /// The limit on background pushes to one device.
  public var backgroundPushes: Rate
  /// The limit on pushes to one control.
  public var controlPushes: Rate
  /// The limit on pushes of priority 10 to one Live Activity. Priority 5 is free.
  public var activityPushes: Rate
  /// The factor by which the limit of `activityPushes` is larger for people who allow frequent updates. Its source is that of
  /// `activityPushes`.
  public var frequentPushesFactor: Int
  /// The limit on starts of Live Activities by push on one device.
  public var activityStarts: Rate
  /// The largest body of a push.
  public var payload: PayloadLimit
  /// The bounds between which a body counts as safe, to be watched, or risky.
  public var payloadBands: PayloadBands

  /// The limit on pushes of priority 10 to a Live Activity of a person who allows frequent updates.
  public var frequentActivityPushes: Rate {
    var rate = activityPushes
    rate.limit = rate.limit.map { $0 * frequentPushesFactor }
    return rate
  }

  /// Returns the rates that may apply to a ledger; empty for ledgers that count by the day. Those of an activity are the one without and
  /// the one with frequent updates.
  public func rates(of ledger: Command.Ledger) -> [Rate] {
    switch ledger {
    case .device: [devicePushes]
    case .background: [backgroundPushes]
    case .control: [controlPushes]
    case .activity: [activityPushes, frequentActivityPushes]
    case .start: [activityStarts]
    case .instance, .app: []
    }
  }

  /// Creates a profile from its parts. Nothing is checked.
  public init(
    name: String, instanceReloads: PerDay, timelineReloads: TimelineReloads = .standard, devicePushes: Rate,
    backgroundPushes: Rate, controlPushes: Rate = .unlimited,
    activityPushes: Rate = .unlimited, frequentPushesFactor: Int = 3, activityStarts: Rate = .unlimited,
    payload: PayloadLimit, payloadBands: PayloadBands
  ) {
    self.name = name
    self.instanceReloads = instanceReloads
    self.timelineReloads = timelineReloads
    self.devicePushes = devicePushes
    self.backgroundPushes = backgroundPushes
    self.controlPushes = controlPushes
    self.activityPushes = activityPushes
    self.frequentPushesFactor = frequentPushesFactor
    self.activityStarts = activityStarts
    self.payload = payload
    self.payloadBands = payloadBands
  }

  /// A limit on reloads: their number in a day, which is counted exactly, and the time between two of them.
  public struct PerDay: Equatable, Sendable {
    /// Reloads in a day, 1…200.
    public var limit: Int
    /// The least time between two reloads.
    public var minInterval: TimeSpan
    /// The source of both numbers.
    public var provenance: Provenance

    /// Creates a limit. Nothing is checked.
    public init(limit: Int, minInterval: TimeSpan, provenance: Provenance) {
      self.limit = limit
      self.minInterval = minInterval
      self.provenance = provenance
    }
  }

  /// The cost of the reloads of a widget's own timeline.
  public struct TimelineReloads: Equatable, Sendable {
    /// Whether each of them costs a token of the widget.
    public var areCharged: Bool
    /// The source of that.
    public var provenance: Provenance

    /// The cost where a profile does not say it: documented numbers hold for reloads, whoever asks for them.
    public static let standard = TimelineReloads(
      areCharged: true, provenance: Provenance(source: "not stated by the profile", confidence: "inference"))

    /// Creates a cost. Nothing is checked.
    public init(areCharged: Bool, provenance: Provenance) {
      self.areCharged = areCharged
      self.provenance = provenance
    }
  }

  /// A rate with a burst: the generic cell rate algorithm with T = window / limit and τ = (burst − 1)·T.
  public struct Rate: Equatable, Sendable {
    /// Pushes in a window; nil: no limit.
    public var limit: Int?
    /// The length of the window.
    public var window: TimeSpan
    /// The largest number of pushes that may follow each other without a wait, after a time without pushes.
    public var burst: Int
    /// The source of the numbers.
    public var provenance: Provenance

    /// A rate without a limit.
    public static let unlimited = Rate(
      limit: nil, window: .hours(1), burst: 1,
      provenance: Provenance(source: "no limit stated", confidence: "inference"))

    /// Creates a rate. Nothing is checked.
    public init(limit: Int?, window: TimeSpan, burst: Int, provenance: Provenance) {
      self.limit = limit
      self.window = window
      self.burst = burst
      self.provenance = provenance
    }
  }

  /// The source of a number and the confidence in it.
  public struct Provenance: Equatable, Sendable {
    /// The document, measurement or reasoning that the number comes from.
    public var source: String
    /// One of `confidences`, or `policy` for a number that the `limits` of a policy set.
    public var confidence: String

    /// Creates a provenance.
    public init(source: String, confidence: String) {
      self.source = source
      self.confidence = confidence
    }
  }

  /// The degrees of confidence that a profile document may state, the surest first.
  static let confidences = ["high", "medium", "low", "inference"]
}
