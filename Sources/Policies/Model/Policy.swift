public import Domain

/// A validated policy: everything a planner asks for, typed, in the order it is looked up. Made by `PolicyDocument`.
public struct Policy: Equatable, Sendable {
  /// Version and content hash; on every decision.
  public var reference: PolicyReference
  public var profile: BudgetProfile
  public var quietHours: QuietHours?
  /// Limits of whole apps, by bundle id, sorted.
  public var apps: [AppBudget]
  /// Sorted by name.
  public var kinds: [KindPolicy]

  public init(
    reference: PolicyReference, profile: BudgetProfile, quietHours: QuietHours? = nil, apps: [AppBudget] = [],
    kinds: [KindPolicy]
  ) {
    self.reference = reference
    self.profile = profile
    self.quietHours = quietHours
    self.apps = apps.sorted { $0.app < $1.app }
    self.kinds = kinds.sorted { $0.name < $1.name }
  }

  /// No kind at all: every event ends as `NO_MATCH`. In force until the log shows a policy.
  public static let none = Policy(
    reference: PolicyReference(version: "none", hash: "0000000000000000"), profile: PolicyProfiles.standard, kinds: [])

  /// The policy of one kind, by name.
  public func kind(named name: String) -> KindPolicy? { kinds.first { $0.name == name } }
}

/// No pushes between two local times of the device's day, but for what is relevant enough.
public struct QuietHours: Equatable, Sendable {
  /// Minutes after local midnight, 0..<1440. `from` > `to` spans midnight.
  public var fromMinute: Int
  public var toMinute: Int
  /// Relevance at or above which quiet hours do not hold; above 1: no exception.
  public var exceptRelevance: Double
  public init(fromMinute: Int, toMinute: Int, exceptRelevance: Double) {
    self.fromMinute = fromMinute
    self.toMinute = toMinute
    self.exceptRelevance = exceptRelevance
  }
}

/// A limit on the commands of one app in a UTC day, over all its devices.
public struct AppBudget: Equatable, Sendable {
  public var app: String
  /// Commands per UTC day; each of P partitions owns `perDay / P` of it (the first `perDay % P` own one more).
  public var perDay: Int
  public init(app: String, perDay: Int) {
    self.app = app
    self.perDay = perDay
  }
}

/// What is decided about one widget kind.
public struct KindPolicy: Equatable, Sendable {
  public var name: String
  public var surface: Surface
  /// False: every event ends as `KIND_DISABLED`.
  public var enabled: Bool
  public var budget: InstanceBudget
  /// After this time a pending change is worth half.
  public var halfLife: TimeSpan
  /// A pending change ends as `EXPIRED` after this many half-lives, whatever the rule's `maxAge` says. Default 6: by
  /// then it is worth 1.6 % of what it was.
  public var expireAfterHalfLives: Double
  /// A widget that reloads by itself within this time is not pushed (`RELOAD_IMMINENT`).
  public var imminentReload: TimeSpan
  public var displays: [DisplayField]
  /// The first rule whose `event` matches the event's type holds.
  public var rules: [Rule]
  public var price: PricePrior
  /// What a Live Activity is told; set for surface `liveActivity` and `broadcast`, and only there.
  public var activity: ActivityPolicy?
  /// Chance that somebody looks, by local hour 0…23, relative to the best hour (largest is 1).
  public var views: [Double]
  /// A device's own views count against `views` as much as this many days do. 0: as soon as there are any, alone.
  public var viewsWeight: Double

  public init(
    name: String, surface: Surface = .widget, enabled: Bool = true, budget: InstanceBudget, halfLife: TimeSpan,
    expireAfterHalfLives: Double = 6, imminentReload: TimeSpan = .minutes(5), displays: [DisplayField] = [],
    rules: [Rule], price: PricePrior = PricePrior(), activity: ActivityPolicy? = nil,
    views: [Double] = KindPolicy.defaultViews, viewsWeight: Double = 2
  ) {
    self.name = name
    self.surface = surface
    self.enabled = enabled
    self.budget = budget
    self.halfLife = halfLife
    self.expireAfterHalfLives = expireAfterHalfLives
    self.imminentReload = imminentReload
    self.displays = displays
    self.rules = rules
    self.price = price
    self.activity = activity
    self.views = views
    self.viewsWeight = viewsWeight
  }

  /// A phone in the pocket by day and on the table by night: unlocks by hour in published screen-use studies are flat
  /// from 08 to 22 h and fall to a twentieth at 03 h. A prior only.
  public static let defaultViews: [Double] = [
    0.3, 0.15, 0.08, 0.05, 0.05, 0.1, 0.3, 0.6, 0.8, 0.9, 0.95, 1, 1, 1, 0.95, 0.95, 1, 1, 1, 1, 1, 0.9, 0.75, 0.5,
  ]

  /// The rule for an event type, if any.
  public func rule(forType type: String) -> Rule? { rules.first { $0.matches(type: type) } }
}

/// The reloads one instance may spend.
public struct InstanceBudget: Equatable, Sendable {
  /// Tokens per window, 1…200.
  public var perDay: Int
  public var minInterval: TimeSpan
  public var window: Window
  public var reserve: Reserve?

  public init(
    perDay: Int, minInterval: TimeSpan, window: Window = .localDay(anchorMinute: 240), reserve: Reserve? = nil
  ) {
    self.perDay = perDay
    self.minInterval = minInterval
    self.window = window
    self.reserve = reserve
  }

  public enum Window: Equatable, Sendable {
    /// A day of the device's time zone that begins this many minutes after local midnight.
    case localDay(anchorMinute: Int)
    /// Any 24 hours.
    case rolling
  }

  /// Tokens kept for what matters most.
  public struct Reserve: Equatable, Sendable {
    /// Share of `perDay`, 0…1.
    public var share: Double
    /// Relevance at or above which the reserve may be used.
    public var aboveRelevance: Double
    public init(share: Double, aboveRelevance: Double) {
      self.share = share
      self.aboveRelevance = aboveRelevance
    }
  }
}

/// Where the price starts before the log has shown anything.
public struct PricePrior: Equatable, Sendable {
  /// θ, the base price: the value at which a token is well spent while the spending is on plan.
  public var base: Double
  /// A pending value below this is `BELOW_FLOOR`.
  public var floor: Double
  /// s in λ = θ·((k·F + s)/(left + s))³·(m + 2f)/(2m + f): how strongly few tokens count.
  public var smoothing: Double
  /// Expected share of the day's value by local hour 0…23; sums to 1.
  public var hourlyShare: [Double]

  public init(
    base: Double = 0.3, floor: Double = 0.01, smoothing: Double = 3,
    hourlyShare: [Double] = PricePrior.defaultHourlyShare
  ) {
    self.base = base
    self.floor = floor
    self.smoothing = smoothing
    self.hourlyShare = hourlyShare
  }

  /// In proportion to `KindPolicy.defaultViews`: what nobody looks at is worth nothing.
  public static let defaultHourlyShare: [Double] = {
    let sum = KindPolicy.defaultViews.reduce(0, +)
    return KindPolicy.defaultViews.map { $0 / sum }
  }()
}

/// A field that the widget shows. Nothing else can make it stale.
public struct DisplayField: Equatable, Sendable {
  public var path: String
  /// The widget shows multiples of this; nil: the value as it is.
  public var round: Double?
  public init(path: String, round: Double? = nil) {
    self.path = path
    self.round = round
  }
}

/// What one event type means to a kind.
public struct Rule: Equatable, Sendable {
  /// An event type, or a prefix followed by `*` (`flight.*`).
  public var event: String
  /// Templates of the interest keys that the event is of interest to: text with `{subject}`, `{type}`, `{source}`,
  /// `{data.path}`. A key with a missing field is not made.
  public var interests: [InterestTemplate]
  public var relevance: RelevanceFormula
  /// Older events are `STALE_EVENT`; pending ones expire at this age.
  public var maxAge: TimeSpan?
  /// What it does to a Live Activity; `update` for every other surface.
  public var action: Action

  public enum Action: String, Sendable, CaseIterable { case start, update, end }

  public init(
    event: String, interests: [InterestTemplate] = [.subject], relevance: RelevanceFormula, maxAge: TimeSpan? = nil,
    action: Action = .update
  ) {
    self.event = event
    self.interests = interests
    self.relevance = relevance
    self.maxAge = maxAge
    self.action = action
  }

  public func matches(type: String) -> Bool {
    event.last == "*" ? type.utf8.starts(with: event.utf8.dropLast()) : type == event
  }
}

/// `airport/{data.origin}` as parts.
public struct InterestTemplate: Equatable, Sendable {
  public enum Part: Equatable, Sendable {
    case text(String)
    /// `subject`, `type`, `source` or a path that begins with `data.`.
    case field(String)
  }
  public var parts: [Part]
  public init(parts: [Part]) { self.parts = parts }
  public static let subject = InterestTemplate(parts: [.field("subject")])

  /// The key for an event; nil where a field is missing or not a scalar with a text form.
  public func key(for event: DomainEvent) -> String? {
    if parts.count == 1, case .field("subject") = parts[0] { return event.subject }
    var key = ""
    for part in parts {
      switch part {
      case .text(let text): key += text
      case .field("subject"): key += event.subject
      case .field("type"): key += event.type
      case .field("source"): key += event.source
      case .field(let path):
        switch event.value(at: path) {
        case .string(let text): key += text
        case .number(let number): key += Self.text(of: number)
        case .bool(let flag): key += flag ? "true" : "false"
        case .null, nil: return nil
        }
      }
    }
    return key
  }

  private static func text(of number: Double) -> String {
    if let whole = Int64(exactly: number) { return String(whole) }
    return String(number)
  }
}

/// relevance = clamp(base + Σ terms, 0, 1)
public struct RelevanceFormula: Equatable, Sendable {
  public var base: Double
  public var add: [Term]
  public init(base: Double, add: [Term] = []) {
    self.base = base
    self.add = add
  }

  public enum Term: Equatable, Sendable {
    /// weight · min(1, |field − from| / per). Adds nothing where the field is missing; `from` missing counts as 0.
    case changeOf(field: String, from: String, per: Double, weight: Double)
    /// weight · min(1, |field| / per)
    case magnitudeOf(field: String, per: Double, weight: Double)
    /// weight if the field equals the value
    case equals(field: String, value: FieldValue, weight: Double)
    /// weight if the two fields differ (a missing one counts as null)
    case differs(field: String, from: String, weight: Double)
  }

  /// 0…1; total: never throws, never NaN.
  public func evaluate(_ event: DomainEvent) -> Double {
    var sum = base
    for term in add {
      switch term {
      case .changeOf(let field, let from, let per, let weight):
        guard case .number(let now) = event.value(at: field) else { continue }
        var before = 0.0
        if case .number(let value) = event.value(at: from) { before = value }
        sum += weight * min(1, abs(now - before) / per)
      case .magnitudeOf(let field, let per, let weight):
        guard case .number(let now) = event.value(at: field) else { continue }
        sum += weight * min(1, abs(now) / per)
      case .equals(let field, let value, let weight):
        if event.value(at: field) == value { sum += weight }
      case .differs(let field, let from, let weight):
        if (event.value(at: field) ?? .null) != (event.value(at: from) ?? .null) { sum += weight }
      }
    }
    return sum.isNaN ? 0 : min(1, max(0, sum))
  }
}
