public import Domain

/// A platform's limits as data: each number with its source and how sure it is.
public struct BudgetProfile: Equatable, Sendable {
  public var name: String
  /// Default of `budget` for kinds that give none: reloads of one widget instance.
  public var instanceReloads: PerDay
  /// WidgetKit pushes to one device.
  public var devicePushes: Rate
  /// Background pushes to one device.
  public var backgroundPushes: Rate
  /// Pushes to one control.
  public var controlPushes: Rate
  /// Priority-10 pushes to one Live Activity; priority 5 is free.
  public var activityPushes: Rate
  /// The limit of `activityPushes` is this many times larger where the person allows frequent updates; its source is
  /// that of `activityPushes`.
  public var frequentPushesFactor: Int
  /// Starts of Live Activities by push, per device.
  public var activityStarts: Rate
  /// What the body of a push may weigh, and when it is large.
  public var payload: PayloadLimit
  public var payloadBands: PayloadBands

  /// `activityPushes` where the person allows frequent updates.
  public var frequentActivityPushes: Rate {
    var rate = activityPushes
    rate.limit = rate.limit.map { $0 * frequentPushesFactor }
    return rate
  }

  public init(
    name: String, instanceReloads: PerDay, devicePushes: Rate, backgroundPushes: Rate, controlPushes: Rate = .unlimited,
    activityPushes: Rate = .unlimited, frequentPushesFactor: Int = 3, activityStarts: Rate = .unlimited,
    payload: PayloadLimit, payloadBands: PayloadBands
  ) {
    self.name = name
    self.instanceReloads = instanceReloads
    self.devicePushes = devicePushes
    self.backgroundPushes = backgroundPushes
    self.controlPushes = controlPushes
    self.activityPushes = activityPushes
    self.frequentPushesFactor = frequentPushesFactor
    self.activityStarts = activityStarts
    self.payload = payload
    self.payloadBands = payloadBands
  }

  /// The rates under the names that documents use, in their order.
  static var rates: [(name: String, path: WritableKeyPath<BudgetProfile, Rate>)] {
    [
      ("devicePushes", \.devicePushes), ("backgroundPushes", \.backgroundPushes), ("controlPushes", \.controlPushes),
      ("activityPushes", \.activityPushes), ("activityStarts", \.activityStarts),
    ]
  }

  /// A number for a day, counted exactly.
  public struct PerDay: Equatable, Sendable {
    public var limit: Int
    public var minInterval: TimeSpan
    public var provenance: Provenance
    public init(limit: Int, minInterval: TimeSpan, provenance: Provenance) {
      self.limit = limit
      self.minInterval = minInterval
      self.provenance = provenance
    }
  }

  /// A rate with a burst: GCRA with T = window / limit and τ = (burst − 1)·T. Nil limit: unlimited.
  public struct Rate: Equatable, Sendable {
    public var limit: Int?
    public var window: TimeSpan
    public var burst: Int
    public var provenance: Provenance
    /// No limit at all.
    public static let unlimited = Rate(
      limit: nil, window: .hours(1), burst: 1,
      provenance: Provenance(source: "no limit stated", confidence: "inference"))

    public init(limit: Int?, window: TimeSpan, burst: Int, provenance: Provenance) {
      self.limit = limit
      self.window = window
      self.burst = burst
      self.provenance = provenance
    }
  }

  public struct Provenance: Equatable, Sendable {
    public var source: String
    /// high, medium, low or inference; `policy` for a number that a policy's `limits` set
    public var confidence: String
    public init(source: String, confidence: String) {
      self.source = source
      self.confidence = confidence
    }
  }
}
