public import Domain

/// The policy of one kind of widget, control or Live Activity.
public struct KindPolicy: Equatable, Sendable {
  /// The kind, as devices register it.
  public var name: Identifier
  /// The surface of the kind's instances.
  public var surface: Surface
  /// Whether the kind is switched on. If not, each event that reaches one of its instances ends as `KIND_DISABLED`.
  public var enabled: Bool
  /// The reloads that one instance may spend.
  public var budget: InstanceBudget
  /// The time after which waiting news interests half as much; nil if it does not lose interest. It says nothing about fields
  /// that the screen shows: a wrong screen stays wrong.
  public var halfLife: TimeSpan?
  /// The time before a widget's own reload in which it is not pushed (`RELOAD_IMMINENT`).
  public var imminentReload: TimeSpan
  /// The fields of events that an instance shows. If there are none, events are not compared with the screen, and each
  /// event of a rule is news.
  public var displays: [DisplayField]
  /// The rules. The first one whose `event` matches the event's type and whose conditions hold is used.
  public var rules: [Rule]
  /// The content of Live Activities. Set if, and only if, the surface shows Live Activities.
  public var activity: ActivityPolicy?
  /// The chance that a person looks, by local hour 0…23, relative to the best hour, which has 1.
  public var views: [Double]
  /// The share of changes that screens are to show in time; nil if there is no objective. Surfaces that show Live Activities have
  /// none, because their updates never wait.
  public var objective: FreshnessObjective?
  /// The weight of `views`, in days of a device's own views. With 0, the device's own views count alone as soon as there are
  /// any.
  public var viewsWeight: Double

  /// Creates the policy of a kind. Nothing is checked.
  public init(
    name: Identifier, surface: Surface = .widget, enabled: Bool = true, budget: InstanceBudget,
    halfLife: TimeSpan? = nil,
    imminentReload: TimeSpan = .minutes(5), displays: [DisplayField] = [], rules: [Rule],
    activity: ActivityPolicy? = nil,
    views: [Double] = KindPolicy.defaultViews, viewsWeight: Double = 2, objective: FreshnessObjective? = nil
  ) {
    self.name = name
    self.surface = surface
    self.enabled = enabled
    self.budget = budget
    self.halfLife = halfLife
    self.imminentReload = imminentReload
    self.displays = displays
    self.rules = rules
    self.activity = activity
    self.views = views
    self.viewsWeight = viewsWeight
    self.objective = objective
  }

  /// The chance that a person looks at a phone, by local hour. Published studies of screen use show unlocks that are flat from
  /// 08 to 22 h and fall to a twentieth at 03 h. This is only the initial value; a device's own views soon outweigh it.
  public static let defaultViews: [Double] = [
    0.3, 0.15, 0.08, 0.05, 0.05, 0.1, 0.3, 0.6, 0.8, 0.9, 0.95, 1, 1, 1, 0.95, 0.95, 1, 1, 1, 1, 1, 0.9, 0.75, 0.5,
  ]

  /// The number of half-lives after which waiting news ends as `EXPIRED`. It then interests 1.6 % as much as at first.
  /// - Beyond: the news ends as `EXPIRED`.
  public static let halfLivesMax = 6.0

  /// The time after which waiting news ends as `EXPIRED`; unbounded if it does not lose interest.
  public var newsLife: TimeSpan {
    halfLife.map { TimeSpan(microseconds: Int64(Double($0.microseconds) * Self.halfLivesMax)) } ?? .unbounded
  }

  /// Returns the rule that holds for an event; nil if none does.
  public func rule(for event: DomainEvent) -> Rule? { rules.first { $0.matches(event) } }

  /// Returns the rules that can hold for events of a type, in their order. The last one is the first without conditions, if
  /// there is one.
  public func rules(forType type: Identifier) -> ArraySlice<Rule> {
    let matching = rules.filter { $0.matches(type: type) }
    let last = matching.firstIndex { $0.conditions.isEmpty }
    return matching[..<(last.map { $0 + 1 } ?? matching.endIndex)]
  }
}
