import Domain

extension PolicyDecoder {
  /// Reads one kind. What it leaves out comes from the profile or is built in.
  mutating func kind(_ name: Identifier, _ value: Located, profile: BudgetProfile) -> KindPolicy? {
    var draft = KindDraft(name: name, reloads: profile.instanceReloads)
    guard let keys = read(value, PolicyKeys.kind, into: &draft) else { return nil }
    guard let surface = draft.surface else { return nil }
    if surface.showsActivities, keys["activity"] == nil {
      reader.error(keys.owner, keys.path, "activity is missing; surface \(surface.rawValue) needs it")
    }
    if let reload = keys["imminentReload"], !surface.traits.reloadsByItself {
      reader.warning(reload.owner, reload.path, "has no effect: only widgets reload by themselves")
    }
    checkRelevance(draft.policy.rules, keys)
    checkShown(draft.policy, keys)
    return draft.policy
  }

  /// Notes an error for each term that reads the shown value of a field that the kind does not display.
  private mutating func checkShown(_ kind: KindPolicy, _ keys: LocatedKeys) {
    // A field or a rule that could not be read has its own error. The places of those after it are not known.
    if let displays = keys["displays"], !isWhole(displays, kind.displays.count) { return }
    guard let owner = keys["rules"], isWhole(owner, kind.rules.count) else { return }
    for (index, rule) in kind.rules.enumerated() {
      let path = "\(owner.path)[\(index)].relevance.add"
      for (place, term) in (rule.relevance?.add ?? []).enumerated() {
        guard let field = term.shownField, !kind.displays.contains(where: { $0.path == field }) else { continue }
        let at = "\(path)[\(place)].from"
        reader.error(
          reader.positions[at] ?? owner.owner, at,
          "\(field) is not displayed, so it is not known what the screen shows of it; add it to displays")
      }
    }
  }

  private func isWhole(_ list: Located, _ count: Int) -> Bool {
    guard case .list(let items) = list.node.content else { return false }
    return items.count == count
  }

  /// Notes an error for the first rule without a relevance if the kind displays no fields. With displayed fields, their
  /// difference would stand for the relevance.
  private mutating func checkRelevance(_ rules: [Rule], _ keys: LocatedKeys) {
    if let displays = keys["displays"] {
      guard case .list(let fields) = displays.node.content, fields.isEmpty else { return }
    }
    guard let place = rules.firstIndex(where: { $0.relevance == nil }), let owner = keys["rules"] else { return }
    let path = "\(owner.path)[\(place)]"
    reader.error(
      reader.positions[path] ?? owner.owner, path,
      "relevance is missing; a rule without it needs a kind with displays, whose differences say how much an event matters"
    )
  }

  /// Reads `activity` of a kind whose surface shows Live Activities.
  /// - Parameters:
  ///   - surface: the surface of the kind. Nil if the document misspells it: `activity` is then not read.
  ///   - startsByRule: whether a rule of the kind starts activities, which makes more keys required.
  mutating func activity(_ value: Located, surface: Surface?, startsByRule: Bool) -> ActivityPolicy? {
    guard let surface else { return nil }
    guard surface.showsActivities else {
      reader.error(
        value.owner, value.path,
        "activity is for surface \(Self.activitySurfaces); this kind is of surface \(surface.rawValue)")
      return nil
    }
    let why = "a rule with action start needs it"
    var draft = ActivityDraft(policy: ActivityPolicy(contentState: []), surface: surface)
    let required: KeyValuePairs =
      surface.traits.isChannel
      ? ["attributesType": why, "alert": why, "channel": why] : ["attributesType": why, "alert": why]
    _ = read(value, PolicyKeys.activity, into: &draft, requiring: startsByRule ? required : [:])
    return draft.policy
  }

  /// The names of the surfaces that show Live Activities, for messages: `liveActivity or broadcast`.
  static var activitySurfaces: String { StrictReader.list(Surface.names(where: \.showsActivities)) }

  /// Reads `budget`. Its keys replace the values that `budget` has from the profile.
  mutating func budget(_ value: Located, surface: Surface?, into budget: inout InstanceBudget) {
    if let surface, surface.showsActivities {
      reader.error(
        value.owner, value.path,
        "surface \(surface.rawValue) has no budget of its own, its limits are the profile's activityPushes; remove budget, or set limits.activityPushes"
      )
      return
    }
    var draft = BudgetDraft(budget)
    guard let keys = read(value, PolicyKeys.budget, into: &draft) else { return }
    if draft.timeSensitive, let given = keys["minInterval"], let flag = keys["timeSensitive"] {
      reader.warning(flag.owner, flag.path, "has no effect: minInterval is given in line \(given.owner.line)")
    }
    if draft.isRolling, let given = keys["dayStart"] {
      reader.error(given.owner, given.path, "a rolling window has no start; remove dayStart or use window: localDay")
    }
    budget = draft.budget
  }

  /// Reads `objective`.
  mutating func objective(_ value: Located, surface: Surface?) -> FreshnessObjective? {
    if let surface, surface.showsActivities {
      reader.error(
        value.owner, value.path,
        "surface \(surface.rawValue) has no objective, because its updates never wait; remove objective")
      return nil
    }
    var objective = FreshnessObjective(freshWithin: .zero, share: 0)
    return read(value, PolicyKeys.objective, into: &objective).map { _ in objective }
  }

  /// Reads `budget.reserve`.
  mutating func reserve(_ value: Located) -> InstanceBudget.Reserve? {
    var reserve = InstanceBudget.Reserve(share: 0, aboveRelevance: 0)
    return read(value, PolicyKeys.reserve, into: &reserve).map { _ in reserve }
  }

  /// The longest time after the end of quiet hours at which what they held back is examined. Planners spread devices over it.
  private static let quietSpreadMinutes = 10

  /// Notes an error if a kind's reserve holds all tokens at every time at which a push may be made, so that an event below its
  /// `aboveRelevance` can never be sent.
  mutating func checkReserve(_ kind: KindPolicy, _ quiet: QuietHours?) {
    let budget = kind.budget
    guard let reserve = budget.reserve, reserve.aboveRelevance > 0,
      Int(budget.reserveTokens.rounded(.up)) >= budget.perDay
    else { return }
    let never = "so an event below aboveRelevance is never sent; keep fewer tokens"
    let tokens = "\(budget.perDay) of \(budget.perDay) tokens"
    let place = "\(StrictReader.path("kinds", kind.name)).budget.reserve.share"
    let position = reader.positions[place] ?? .start
    guard case .localDay(let anchor) = budget.window else {
      return reader.error(
        position, place, "holds \(tokens), and a rolling window releases none, \(never), or use window: localDay")
    }
    // The last moment of the budget day that is not quiet is when most tokens are released.
    guard let quiet, quiet.exceptRelevance > 0 else { return }
    func span(_ from: Int, _ to: Int) -> Int { ((to - from) % 1440 + 1440) % 1440 }
    let rest = span(quiet.fromMinute, anchor)
    guard rest > 0, rest <= span(quiet.fromMinute, quiet.toMinute) + Self.quietSpreadMinutes,
      InstanceBudget.Reserve.kept(of: budget.reserveTokens, before: .minutes(Int64(rest))) >= budget.perDay
    else { return }
    reader.error(
      position, place,
      "holds \(tokens), and releases none outside of quiet hours, \(never), or let the budget day end at another time (dayStart)"
    )
  }

  /// Reads a `data.…` path of the event.
  mutating func fieldPath(_ value: Located?) -> Identifier? {
    guard let value, let path = reader.text(value, "a field path such as data.status") else { return nil }
    if let problem = FieldPath.problem(path, eventAttributes: false) {
      reader.error(value.node.position, value.path, problem)
      return nil
    }
    return Identifier(path)
  }
}
