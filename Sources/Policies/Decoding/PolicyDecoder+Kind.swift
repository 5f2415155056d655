import Domain

extension PolicyDecoder {
  private static let kindKeys = [
    "surface", "enabled", "budget", "activity", "halfLife", "expireAfterHalfLives", "imminentReload", "displays",
    "rules", "price", "views", "viewsWeight",
  ]

  /// One kind; what it leaves out comes from the profile or is built in.
  mutating func kind(_ name: String, _ value: Located, profile: BudgetProfile) -> KindPolicy? {
    guard let keys = reader.keys(value, allowed: Self.kindKeys, required: ["halfLife", "rules"]) else { return nil }
    let surface = surface(keys["surface"])
    let budget = budget(keys["budget"], surface: surface, profile: profile.instanceReloads)
    let halfLife = reader.duration(keys["halfLife"], in: PolicyBounds.halfLife)
    let displays = displays(keys["displays"])
    let rules = rules(keys["rules"], surface: surface)
    let activity = activity(in: keys, surface: surface, rules: rules)
    let price = price(keys["price"])
    let enabled = reader.flag(keys["enabled"])
    let expire = reader.number(keys["expireAfterHalfLives"], in: PolicyBounds.expireAfterHalfLives)
    let imminent = reader.duration(keys["imminentReload"], in: PolicyBounds.imminentReload)
    let views = reader.hours(keys["views"])
    let viewsWeight = reader.number(keys["viewsWeight"], in: PolicyBounds.viewsWeight)
    guard let halfLife, let surface else { return nil }
    noteReload(keys["imminentReload"], surface)
    var kind = KindPolicy(
      name: name, surface: surface, enabled: enabled ?? true, budget: budget, halfLife: halfLife, displays: displays,
      rules: rules, price: price, activity: activity)
    if let expire { kind.expireAfterHalfLives = expire }
    if let imminent { kind.imminentReload = imminent }
    if let views, let best = views.max() { kind.views = views.map { $0 / best } }
    if let viewsWeight { kind.viewsWeight = viewsWeight }
    return kind
  }

  /// Nil where it is misspelt.
  private mutating func surface(_ value: Located?) -> Surface? {
    guard let value else { return .widget }
    return reader.choice(value, among: Surface.allCases.map(\.rawValue)).flatMap(Surface.init(rawValue:))
  }

  /// Only widgets reload by themselves.
  private mutating func noteReload(_ value: Located?, _ surface: Surface) {
    guard let value, surface != .widget, surface != .background else { return }
    reader.warning(value.owner, value.path, "has no effect: only widgets reload by themselves")
  }

  private mutating func activity(in keys: LocatedKeys, surface: Surface?, rules: [Rule]) -> ActivityPolicy? {
    guard let surface else { return nil }
    guard let value = keys["activity"] else {
      if surface.showsActivities {
        reader.error(keys.owner, keys.path, "activity is missing; surface \(surface.rawValue) needs it")
      }
      return nil
    }
    guard surface.showsActivities else {
      reader.error(
        value.owner, value.path,
        "activity is for surface liveActivity or broadcast; this kind is of surface \(surface.rawValue)")
      return nil
    }
    return activity(value, surface: surface, startsByRule: rules.contains { $0.action == .start })
  }

  private mutating func budget(_ value: Located?, surface: Surface?, profile: BudgetProfile.PerDay) -> InstanceBudget {
    let standard = InstanceBudget(perDay: profile.limit, minInterval: profile.minInterval)
    if let value, let surface, surface.showsActivities {
      reader.error(
        value.owner, value.path,
        "surface \(surface.rawValue) has no budget of its own, its limits are the profile's activityPushes; remove budget, or set limits.activityPushes"
      )
      return standard
    }
    let allowed = ["perDay", "minInterval", "timeSensitive", "window", "dayStart", "reserve"]
    guard let value, let keys = reader.keys(value, allowed: allowed) else { return standard }
    var budget = standard
    if let perDay = reader.integer(keys["perDay"], in: PolicyBounds.perDay) { budget.perDay = perDay }
    if reader.flag(keys["timeSensitive"]) == true {
      budget.minInterval = PolicyProfiles.timeSensitiveMinInterval
      if let given = keys["minInterval"], let flag = keys["timeSensitive"] {
        reader.warning(flag.owner, flag.path, "has no effect: minInterval is given in line \(given.owner.line)")
      }
    }
    if let interval = reader.duration(keys["minInterval"], in: PolicyBounds.minInterval) {
      budget.minInterval = interval
    }
    let dayStart = reader.clock(keys["dayStart"])
    if let dayStart { budget.window = .localDay(anchorMinute: dayStart) }
    if reader.choice(keys["window"], among: ["localDay", "rolling"]) == "rolling" {
      budget.window = .rolling
      if let given = keys["dayStart"] {
        reader.error(given.owner, given.path, "a rolling window has no start; remove dayStart or use window: localDay")
      }
    }
    if let reserve = keys["reserve"] { budget.reserve = self.reserve(reserve) }
    return budget
  }

  private mutating func reserve(_ value: Located) -> InstanceBudget.Reserve? {
    let names = ["share", "aboveRelevance"]
    guard let keys = reader.keys(value, allowed: names, required: names) else { return nil }
    let share = reader.number(keys["share"], in: PolicyBounds.share)
    let bound = reader.number(keys["aboveRelevance"], in: PolicyBounds.share)
    guard let share, let bound else { return nil }
    return InstanceBudget.Reserve(share: share, aboveRelevance: bound)
  }

  private mutating func displays(_ value: Located?) -> [DisplayField] {
    let items = reader.list(value, of: "displayed fields", count: 0...PolicyBounds.displaysMax) ?? []
    return items.compactMap { item in
      guard let keys = reader.keys(item, allowed: ["field", "round"], required: ["field"]) else { return nil }
      let round = reader.number(keys["round"], in: PolicyBounds.per)
      guard let path = fieldPath(keys["field"]) else { return nil }
      return DisplayField(path: path, round: round)
    }
  }

  private mutating func price(_ value: Located?) -> PricePrior {
    var price = PricePrior()
    guard let value, let keys = reader.keys(value, allowed: ["base", "floor", "smoothing", "hourlyShare"]) else {
      return price
    }
    if let base = reader.number(keys["base"], in: PolicyBounds.priceBase) { price.base = base }
    if let floor = reader.number(keys["floor"], in: PolicyBounds.share) { price.floor = floor }
    if let smoothing = reader.number(keys["smoothing"], in: PolicyBounds.smoothing) { price.smoothing = smoothing }
    if let shares = reader.hours(keys["hourlyShare"]) {
      let sum = shares.reduce(0, +)
      price.hourlyShare = shares.map { $0 / sum }
    }
    return price
  }

  /// A `data.…` path of the event.
  mutating func fieldPath(_ value: Located?) -> String? {
    guard let value, let path = reader.text(value, "a field path such as data.status") else { return nil }
    if let problem = FieldPath.problem(path, eventAttributes: false) {
      reader.error(value.node.position, value.path, problem)
      return nil
    }
    return path
  }
}
