import Domain

/// A policy as a list of (path, value) in the spelling of the document: what `PolicyExplanation` annotates and
/// `PolicyDifference` compares.
struct PolicyValues {
  /// How a rule is named in a path.
  enum RuleNames {
    /// `rules[0]`, as in the document.
    case byIndex
    /// `rules[flight.cancelled]`, which stays the same when a rule is added before it.
    case byEventType
  }

  private(set) var items: [(path: String, value: FieldValue)] = []
  private let names: RuleNames

  init(_ policy: Policy, rules names: RuleNames) {
    self.names = names
    add("version", .string(policy.reference.version))
    add("profile", .string(policy.profile.name))
    add(policy.profile)
    if let quiet = policy.quietHours {
      add("quietHours.from", .string(Self.clock(quiet.fromMinute)))
      add("quietHours.to", .string(Self.clock(quiet.toMinute)))
      if quiet.exceptRelevance <= 1 { add("quietHours.exceptRelevance", .number(quiet.exceptRelevance)) }
    }
    for app in policy.apps { add("\(StrictReader.path("apps", app.app)).perDay", .number(Double(app.perDay))) }
    for kind in policy.kinds { add(kind, at: StrictReader.path("kinds", kind.name)) }
  }

  mutating func add(_ path: String, _ value: FieldValue) { items.append((path, value)) }

  private mutating func add(_ profile: BudgetProfile) {
    add("limits.instanceReloads.limit", .number(Double(profile.instanceReloads.limit)))
    add("limits.instanceReloads.minInterval", Self.duration(profile.instanceReloads.minInterval))
    for (name, path) in BudgetProfile.rates {
      let rate = profile[keyPath: path]
      add("limits.\(name).limit", rate.limit.map { .number(Double($0)) } ?? .string("unlimited"))
      add("limits.\(name).window", Self.duration(rate.window))
      add("limits.\(name).burst", .number(Double(rate.burst)))
    }
    add("limits.frequentPushesFactor", .number(Double(profile.frequentPushesFactor)))
  }

  private mutating func add(_ kind: KindPolicy, at path: String) {
    add("\(path).surface", .string(kind.surface.rawValue))
    add("\(path).enabled", .bool(kind.enabled))
    if !kind.surface.showsActivities { add(kind.budget, at: "\(path).budget") }
    if let activity = kind.activity { add(activity, of: kind.surface, at: "\(path).activity") }
    add("\(path).halfLife", Self.duration(kind.halfLife))
    add("\(path).expireAfterHalfLives", .number(kind.expireAfterHalfLives))
    if kind.surface == .widget || kind.surface == .background {
      add("\(path).imminentReload", Self.duration(kind.imminentReload))
    }
    add(
      "\(path).displays",
      .string(kind.displays.isEmpty ? "any change" : kind.displays.map(Self.text).joined(separator: ", ")))
    for (index, rule) in kind.rules.enumerated() {
      let place = "\(path).rules[\(name(of: index, in: kind.rules))]"
      add(rule, at: place)
      if kind.surface.showsActivities { add("\(place).action", .string(rule.action.rawValue)) }
    }
    if names == .byEventType { add("\(path).rules", .string(kind.rules.map(\.event).joined(separator: ", "))) }
    add("\(path).price.base", .number(kind.price.base))
    add("\(path).price.floor", .number(kind.price.floor))
    add("\(path).price.smoothing", .number(kind.price.smoothing))
    add("\(path).price.hourlyShare", .string(hours(kind.price.hourlyShare)))
    add("\(path).views", .string(hours(kind.views)))
    add("\(path).viewsWeight", .number(kind.viewsWeight))
  }

  private mutating func add(_ budget: InstanceBudget, at path: String) {
    add("\(path).perDay", .number(Double(budget.perDay)))
    add("\(path).minInterval", Self.duration(budget.minInterval))
    switch budget.window {
    case .rolling: add("\(path).window", .string("rolling"))
    case .localDay(let anchor):
      add("\(path).window", .string("localDay"))
      add("\(path).dayStart", .string(Self.clock(anchor)))
    }
    if let reserve = budget.reserve {
      add("\(path).reserve.share", .number(reserve.share))
      add("\(path).reserve.aboveRelevance", .number(reserve.aboveRelevance))
    }
  }

  private func name(of index: Int, in rules: [Rule]) -> String {
    guard names == .byEventType else { return String(index) }
    let earlier = rules[..<index].count { $0.event == rules[index].event }
    return earlier == 0 ? rules[index].event : "\(rules[index].event)#\(earlier + 1)"
  }

  private mutating func add(_ rule: Rule, at path: String) {
    if names == .byIndex { add("\(path).event", .string(rule.event)) }
    add("\(path).interests", .string(rule.interests.map(Self.text).joined(separator: ", ")))
    add("\(path).relevance.base", .number(rule.relevance.base))
    for (index, term) in rule.relevance.add.enumerated() {
      add("\(path).relevance.add[\(index)]", .string(Self.text(term)))
    }
    if let maxAge = rule.maxAge { add("\(path).maxAge", Self.duration(maxAge)) }
  }

  // MARK: Words

  static func duration(_ span: TimeSpan) -> FieldValue { .string(DurationText.format(span)) }

  private static func clock(_ minute: Int) -> String {
    let parts = [minute / 60, minute % 60]
    return parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  /// Thousandths are enough to read; what is compared has millionths.
  private func hours(_ weights: [Double]) -> String {
    let scale: Double = names == .byIndex ? 1000 : 1_000_000
    return weights.map { NumberText.format(($0 * scale).rounded() / scale) }.joined(separator: " ")
  }

  private static func text(_ display: DisplayField) -> String {
    display.path + (display.round.map { " by \(NumberText.format($0))" } ?? "")
  }

  static func text(_ template: InterestTemplate) -> String {
    template.parts.map { part in
      switch part {
      case .text(let text): text
      case .field(let name): "{\(name)}"
      }
    }.joined()
  }

  private static func text(_ term: RelevanceFormula.Term) -> String {
    let weight = NumberText.format(term.weight)
    return switch term {
    case .changeOf(let field, let from, let per, _):
      "\(weight) × change of \(field) from \(from) per \(NumberText.format(per))"
    case .magnitudeOf(let field, let per, _): "\(weight) × \(field) per \(NumberText.format(per))"
    case .equals(let field, let value, _): "\(weight) if \(field) equals \(PolicyText.of(value))"
    case .differs(let field, let from, _): "\(weight) if \(field) differs from \(from)"
    }
  }
}

/// Values in lines for people and for programs.
enum PolicyText {
  static func of(_ value: FieldValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let flag): flag ? "true" : "false"
    case .number(let number): NumberText.format(number)
    case .string(let text): text
    }
  }

  /// As JSON.
  static func json(_ value: FieldValue) -> String {
    if case .string(let text) = value { return json(text) }
    return of(value)
  }

  /// A JSON string.
  static func json(_ text: String) -> String {
    var json = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": json += "\\\""
      case "\\": json += "\\\\"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: json.unicodeScalars.append(scalar)
      }
    }
    return json + "\""
  }
}
