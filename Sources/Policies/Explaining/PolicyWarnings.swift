import Domain

/// Finds parts of a valid policy that its author probably did not intend.
enum PolicyWarnings {
  /// Notes the warnings about a policy.
  static func note(_ policy: Policy, in reader: inout StrictReader) {
    noteManyInterests(policy, &reader)
    for kind in policy.kinds {
      let path = StrictReader.path("kinds", kind.name)
      noteDeadRules(kind, path, &reader)
      if !kind.surface.showsActivities { noteBudget(kind, path, &reader) }
      noteWorthlessRules(kind, path, &reader)
      noteObjective(kind, path, &reader)
      noteImpossibleConditions(kind, path, &reader)
      noteActivity(kind, path, &reader)
      notePayload(kind, path, policy.profile, &reader)
    }
  }

  /// Notes pushes that are large by constant text alone, and so are large for every event.
  private static func notePayload(
    _ kind: KindPolicy, _ path: String, _ profile: BudgetProfile, _ reader: inout StrictReader
  ) {
    guard let activity = kind.activity else { return }
    let isBroadcast = kind.surface.traits.isChannel
    let limit = profile.payloadBytesMax(isBroadcast: isBroadcast)
    func note(_ what: String, _ bytes: Int, at place: String) {
      let band = profile.payloadBand(bytes: bytes, isBroadcast: isBroadcast)
      guard band > .safe, let position = reader.positions[place] else { return }
      let verdict = band == .refused ? "every one is refused" : "its band is \(band.rawValue) or worse"
      reader.warning(
        position, place,
        "\(what) has at least \(bytes) bytes by constant text alone, at most \(limit) are allowed: \(verdict)")
    }
    let update = PayloadLeast.update(activity)
    note("an update", update, at: "\(path).activity.contentState")
    let start = PayloadLeast.start(activity)
    // If the update is as large, one warning is enough.
    if kind.rules.contains(where: { $0.action == .start }),
      profile.payloadBand(bytes: start, isBroadcast: isBroadcast)
        > profile.payloadBand(bytes: update, isBroadcast: isBroadcast)
    {
      note("a start", start, at: "\(path).activity")
    }
  }

  /// Notes event types with too many interest keys. Kinds that listen to the same event share its keys.
  private static func noteManyInterests(_ policy: Policy, _ reader: inout StrictReader) {
    var noted: Set<Identifier> = []
    for kind in policy.kinds {
      for (index, rule) in kind.rules.enumerated() where noted.insert(rule.event).inserted {
        let type = rule.prefix.map { Identifier(decoding: $0) } ?? rule.event
        var templates = [InterestTemplate.subject]
        for kind in policy.kinds {
          for template in kind.rules(forType: type).flatMap(\.interests) where !templates.contains(template) {
            templates.append(template)
          }
        }
        guard templates.count > DomainBounds.interestsPerEventMax else { continue }
        let place = "\(StrictReader.path("kinds", kind.name)).rules[\(index)].event"
        reader.warning(
          reader.positions[place] ?? .start, place,
          "an event of this type can have \(templates.count) interest keys over all kinds; only the first \(DomainBounds.interestsPerEventMax) count"
        )
      }
    }
  }

  private static func noteActivity(_ kind: KindPolicy, _ path: String, _ reader: inout StrictReader) {
    guard let activity = kind.activity else { return }
    func note(_ place: String, _ message: String) {
      if let position = reader.positions[place] { reader.warning(position, place, message) }
    }
    let start = kind.rules.firstIndex { $0.action == .start }
    if start != nil, let rule = kind.rules.firstIndex(where: { !$0.interests.contains(.subject) }) {
      note(
        "\(path).rules[\(rule)].interests",
        "an activity is known by the subject of the event that has started it, and the app registers it with that: add \"{subject}\", or it is neither updated nor tied to its start"
      )
    }
    if let start, !kind.rules.contains(where: { $0.action == .end }) {
      note(
        "\(path).rules[\(start)].action",
        "no rule ends what this one starts: its activities end once nothing is heard for \(DurationText.format(activity.quietEnd)) (quietEnd), or 8h after their start"
      )
    }
    if start == nil, !kind.rules.contains(where: { $0.action == .end }) {
      note(
        "\(path).rules",
        "no rule ends activities: they end once nothing is heard for \(DurationText.format(activity.quietEnd)) (quietEnd), or 8h after their start"
      )
    }
    if start != nil {
      for (place, fields) in activity.startFields {
        let unsure = fields.filter { $0.hasPrefix("data.") && !activity.requires($0) }
        guard let first = unsure.first else { continue }
        let what = place == "channel" ? "no channel" : "no alert"
        note(
          "\(path).activity.\(place)",
          "a start is not sent before an event has said \(first), because it has \(what) then; if that is meant, write required: true where a template reads it"
        )
      }
    }
    let scores = Set(kind.rules.map { rule in rule.relevance.flatMap { $0.add.isEmpty ? $0.base : nil } })
    if activity.relevanceScore > 0, scores.count == 1, let base = scores.first ?? nil {
      note(
        "\(path).activity",
        "relevance-score is always \(NumberText.format(base * activity.relevanceScore)): every rule has a relevance of \(NumberText.format(base)). It orders nothing; leave it out with relevanceScore: 0"
      )
    }
    if start == nil {
      let why = "never sent: no rule of this kind starts activities"
      note("\(path).activity.attributesType", why)
      note("\(path).activity.attributes", why)
      if let alert = activity.alert, alert.aboveRelevance > 1 {
        note("\(path).activity.alert", "\(why), and without aboveRelevance no update carries it")
      }
    }
  }

  /// Notes rules that are never used, because an earlier rule matches all of their events.
  private static func noteDeadRules(_ kind: KindPolicy, _ path: String, _ reader: inout StrictReader) {
    for (index, rule) in kind.rules.enumerated() {
      guard let earlier = kind.rules[..<index].firstIndex(where: { covers($0, rule) }) else { continue }
      let place = "\(path).rules[\(index)].event"
      let earlierLine = reader.positions["\(path).rules[\(earlier)].event"]?.line ?? 0
      reader.warning(
        reader.positions[place] ?? .start, place,
        "never used: the rule on \(kind.rules[earlier].event) in line \(earlierLine) comes first and takes the same events"
      )
    }
  }

  private static func covers(_ earlier: Rule, _ later: Rule) -> Bool {
    guard earlier.conditions.allSatisfy({ later.conditions.contains($0) }) else { return false }
    guard let prefix = earlier.prefix else { return earlier.event == later.event }
    return (later.prefix ?? later.event.utf8[...]).starts(with: prefix)
  }

  private static func noteBudget(_ kind: KindPolicy, _ path: String, _ reader: inout StrictReader) {
    let budget = kind.budget
    let day = TimeSpan.hours(24).microseconds
    let spendable = budget.minInterval.microseconds > 0 ? (day - 1) / budget.minInterval.microseconds + 1 : .max
    if Int64(budget.perDay) > spendable {
      let place = "\(path).budget.perDay"
      let position = reader.positions[place] ?? reader.positions["\(path).budget.minInterval"] ?? reader.positions[path]
      reader.warning(
        position ?? .start, place,
        "\(budget.perDay) a day cannot be spent: with a minimum interval of \(DurationText.format(budget.minInterval)) a day holds \(spendable)"
      )
    }
    if let reserve = budget.reserve, budget.reserveTokens < 1 {
      let place = "\(path).budget.reserve.share"
      let product = "\(NumberText.format(reserve.share)) of \(budget.perDay)"
      reader.warning(
        reader.positions[place] ?? .start, place,
        reserve.share > 0
          ? "holds 1 token: \(product) is less than 1, and a part counts as a whole token"
          : "holds no token: \(product) is 0")
    }
  }

  /// Notes an objective that a limit of the kind contradicts.
  private static func noteObjective(_ kind: KindPolicy, _ path: String, _ reader: inout StrictReader) {
    guard let objective = kind.objective, objective.freshWithin < kind.budget.minInterval else { return }
    let place = "\(path).objective.freshWithin"
    reader.warning(
      reader.positions[place] ?? .start, place,
      "less than the minimum interval of \(DurationText.format(kind.budget.minInterval)): a change that follows a reload closely is always missed"
    )
  }

  /// Notes rules whose conditions no event can fulfil together.
  private static func noteImpossibleConditions(_ kind: KindPolicy, _ path: String, _ reader: inout StrictReader) {
    for (index, rule) in kind.rules.enumerated() {
      for (second, condition) in rule.conditions.enumerated() {
        guard let first = rule.conditions[..<second].first(where: { $0.contradicts(condition) }) else { continue }
        let place = "\(path).rules[\(index)].when"
        reader.warning(
          reader.positions[place] ?? .start, place,
          "never used: no event fulfils both \(PolicyText.of(first)) and \(PolicyText.of(condition))")
        break
      }
    }
  }

  /// Notes rules whose events never matter. A rule with base 0 and no terms means "ignore these events", so it is not noted.
  /// Rules that start or end activities are not noted, because they do not act by their relevance alone.
  private static func noteWorthlessRules(_ kind: KindPolicy, _ path: String, _ reader: inout StrictReader) {
    for (index, rule) in kind.rules.enumerated() {
      guard rule.action == .update, let formula = rule.relevance, !formula.add.isEmpty,
        formula.add.reduce(formula.base, { $0 + max(0, $1.weight) }) <= 0
      else { continue }
      let place = "\(path).rules[\(index)].relevance"
      reader.warning(
        reader.positions[place] ?? .start, place,
        "never worth a reload: no term adds to a relevance of 0, so every event of this rule is COSMETIC")
    }
  }
}

extension RelevanceFormula.Term {
  /// The weight of the term, which may be negative.
  var weight: Double {
    switch self {
    case .changeOf(_, _, _, let weight), .magnitudeOf(_, _, let weight), .equals(_, _, let weight),
      .differs(_, _, let weight), .changeFromShown(_, _, let weight), .differsFromShown(_, let weight):
      weight
    }
  }
}

extension ActivityPolicy {
  /// Returns whether nothing but an end is pushed as long as no event has said a field.
  fileprivate func requires(_ field: Identifier) -> Bool { (contentState + attributes).contains { $0.requires(field) } }
}

extension TemplateMember {
  fileprivate func requires(_ field: Identifier) -> Bool {
    switch value {
    case .field(let path, _), .date(let path, _): isRequired && path == field
    case .object(let members): members.contains { $0.requires(field) }
    case .constant, .text: false
    }
  }
}
