import Domain

/// The policy of a kind while a document is read into it, or while it is shown.
struct KindDraft {
  var policy: KindPolicy
  /// The surface; nil if the document misspells it. Rules that depend on the surface are then not checked.
  var surface: Surface?

  /// Creates the draft of a kind before any of its keys is read.
  /// - Parameter reloads: the limits of the profile, which hold unless the kind has a `budget` with others.
  init(name: Identifier, reloads: BudgetProfile.PerDay) {
    let budget = InstanceBudget(perDay: reloads.limit, minInterval: reloads.minInterval)
    policy = KindPolicy(name: name, budget: budget, rules: [])
    surface = policy.surface
  }

  /// Creates a draft from which a policy is shown.
  init(_ policy: KindPolicy) {
    self.policy = policy
    surface = policy.surface
  }
}

/// The `budget` of a kind while a document is read into it, or while it is shown. It holds each key separately, because
/// several keys together make one value of the `InstanceBudget`.
struct BudgetDraft {
  var perDay: Int
  var minInterval: TimeSpan
  var timeSensitive = false
  var isRolling = false
  var anchorMinute = 240
  var reserve: InstanceBudget.Reserve?

  init(_ budget: InstanceBudget) {
    perDay = budget.perDay
    minInterval = budget.minInterval
    reserve = budget.reserve
    switch budget.window {
    case .rolling: isRolling = true
    case .localDay(let minute): anchorMinute = minute
    }
  }

  var budget: InstanceBudget {
    InstanceBudget(
      perDay: perDay, minInterval: minInterval,
      window: isRolling ? .rolling : .localDay(anchorMinute: anchorMinute), reserve: reserve)
  }
}

extension PolicyKeys {
  /// The description of the keys of a kind, the value of an entry of `kinds`.
  static let kind = PolicyMapping<KindDraft>([
    PolicyKey(
      "surface", .choice(Surface.allCases.map(\.rawValue)), default: Surface.widget.rawValue,
      Surface.allCases.map { "\($0.rawValue): \($0.traits.meaning)." }.joined(separator: " "),
      read: { decoder, value, draft in
        draft.surface = decoder.reader.choice(value, among: Surface.allCases.map(\.rawValue))
          .flatMap(Surface.init(rawValue:))
        if let surface = draft.surface { draft.policy.surface = surface }
      },
      show: { draft, path, values in values.add(path, .string(draft.policy.surface.rawValue)) }),
    .flag("enabled", \.policy.enabled, default: "true", "false: every event ends as KIND_DISABLED."),
    PolicyKey(
      "budget", .mapping, "Reloads that one instance may spend. What is left out comes from the profile.",
      read: { decoder, value, draft in
        decoder.budget(value, surface: draft.surface, into: &draft.policy.budget)
      },
      show: { draft, path, values in values.add(BudgetDraft(draft.policy.budget), budget, at: path) }
    ).shown { !$0.policy.surface.showsActivities },
    PolicyKey<KindDraft>(
      "activity", .mapping,
      "The content of the Live Activities of the kind, and how they begin and end. For surface liveActivity and broadcast, which have no `budget`: their limits are the profile's activityPushes.",
      read: { decoder, value, draft in
        let startsByRule = draft.policy.rules.contains { $0.action == .start }
        draft.policy.activity = decoder.activity(value, surface: draft.surface, startsByRule: startsByRule)
      },
      show: { draft, path, values in
        guard let policy = draft.policy.activity else { return }
        values.add(ActivityDraft(policy: policy, surface: draft.policy.surface), activity, at: path)
      }
    ).readLast,
    .duration(
      "halfLife", \.policy.halfLife, PolicyBounds.halfLife,
      "After this time waiting news interests half as much, and after six times as long it expires. 1s to 7d. Left out: news keeps its interest. A field of `displays` that the screen shows wrong stays wrong, whatever its age."
    ),
    PolicyKey<KindDraft>.duration(
      "imminentReload", \.policy.imminentReload, PolicyBounds.imminentReload, default: "5m",
      "A widget that reloads by itself within this time is not pushed. Only widgets reload by themselves. At most 24h."
    ).shown { $0.policy.surface.traits.reloadsByItself },
    PolicyKey(
      "displays", .list(0...PolicyBounds.displaysMax),
      "The fields that the widget shows. An event that carries none of them is news if its rule has a `relevance`, and not visible otherwise. Left out or empty: every event is news. `per`, `weight`, `weights` and `initial` say how wrong the screen is while it shows another value.",
      read: { decoder, value, draft in draft.policy.displays = decoder.displays(value) },
      show: { draft, path, values in
        let fields = draft.policy.displays.map { PolicyText.of($0) }
        values.add(path, .string(fields.isEmpty ? "any change" : fields.joined(separator: ", ")))
      }),
    PolicyKey(
      "rules", .list(1...PolicyBounds.rulesMax), required: true,
      "What events mean to this kind. The first rule that matches holds.",
      read: { decoder, value, draft in draft.policy.rules = decoder.rules(value, surface: draft.surface) },
      show: { draft, path, values in values.add(rules: draft.policy.rules, of: draft.policy.surface, at: path) }),
    .hours(
      "views", \.policy.views,
      "Chance that a person looks, by local hour; the largest counts as 1. Default: a phone's day.",
      scaledBy: { $0.max() ?? 1 }),
    .number(
      "viewsWeight", \.policy.viewsWeight, PolicyBounds.viewsWeight, default: "2",
      "In days: `views` weighs as much as this many days of views recorded on the device."),
    PolicyKey(
      "objective", .mapping,
      "How soon screens are to show changes, and how many of them. Nothing is decided by it: final decisions say `met` or `missed`, and metrics count them. Not for surface liveActivity and broadcast, whose updates never wait.",
      read: { decoder, value, draft in
        draft.policy.objective = decoder.objective(value, surface: draft.surface)
      },
      show: { draft, path, values in
        if let objective = draft.policy.objective { values.add(objective, PolicyKeys.objective, at: path) }
      }),
  ])

  /// The description of the keys of `objective`, in a kind.
  static let objective = PolicyMapping<FreshnessObjective>([
    .duration(
      "freshWithin", \.freshWithin, PolicyBounds.freshWithin, required: true,
      "The time from the arrival of an event until the screen shows it, 1s to 7d."),
    .number(
      "share", \.share, PolicyBounds.objectiveShare, required: true,
      "The share of changes for which that is to hold, such as 0.95. The rest is the error budget."),
    .number(
      "wrongAtLeast", \.wrongAtLeast, PolicyBounds.share, default: "0",
      "Changes count from this `relevance` on, as decisions state it: how wrong the event made the screen of its subject, unless its rule has a `relevance`."
    ),
  ])

  /// The description of the keys of `budget`, in a kind.
  static let budget = PolicyMapping<BudgetDraft>([
    .integer("perDay", \.perDay, PolicyBounds.perDay, "Reloads in a window."),
    PolicyKey<BudgetDraft>.duration(
      "minInterval", \.minInterval, PolicyBounds.minInterval, "Time between two reloads, at most 24h."
    ).readLast,
    PolicyKey(
      "timeSensitive", .flag, default: "false", "true: a minimum interval of 5m where `minInterval` is not given.",
      read: { decoder, value, draft in
        draft.timeSensitive = decoder.reader.flag(value) == true
        if draft.timeSensitive { draft.minInterval = PolicyProfiles.timeSensitiveMinInterval }
      }),
    PolicyKey(
      "window", .choice(["localDay", "rolling"]), default: "localDay",
      "localDay: a day of the device's time zone. rolling: any 24 hours.",
      read: { decoder, value, draft in
        draft.isRolling = decoder.reader.choice(value, among: ["localDay", "rolling"]) == "rolling"
      },
      show: { draft, path, values in values.add(path, .string(draft.isRolling ? "rolling" : "localDay")) }),
    PolicyKey<BudgetDraft>.clock(
      "dayStart", \.anchorMinute, default: "04:00", "The local time at which a localDay begins."
    ).shown { !$0.isRolling },
    PolicyKey(
      "reserve", .mapping, "Tokens kept for what matters most.",
      read: { decoder, value, draft in draft.reserve = decoder.reserve(value) },
      show: { draft, path, values in
        if let tokens = draft.reserve { values.add(tokens, reserve, at: path) }
      }),
  ])

  /// The description of the keys of `budget.reserve`, in a kind.
  static let reserve = PolicyMapping<InstanceBudget.Reserve>([
    .number(
      "share", \.share, PolicyBounds.share, required: true, "Share of perDay. A part of a token counts as a whole one."),
    .number(
      "aboveRelevance", \.aboveRelevance, PolicyBounds.share, required: true,
      "Relevance at or above which the reserve may be used."),
  ])

  /// The description of the keys of an element of `displays`. Explanations show all fields in one line
  /// (`PolicyText.of`).
  static let display = PolicyMapping<DisplayField>([
    PolicyKey(
      "field", .other, required: true, "The field of the event.",
      read: { decoder, value, field in
        if let path = decoder.fieldPath(value) { field.path = path }
      }),
    .number(
      "round", \.round, PolicyBounds.per,
      "The widget shows the nearest multiple of this; a half goes away from 0. Two numbers with the same multiple are shown alike. How wrong others are is taken from the numbers themselves. Left out: the value as it is."
    ),
    PolicyKey(
      "per", .other,
      "The difference of two numbers that counts in full: a number, or a percentage of the shown value such as 0.5%. Smaller differences count in proportion. Left out: any visible difference counts in full.",
      read: { decoder, value, field in field.per = decoder.scale(value) }),
    .number(
      "weight", \.weight, PolicyBounds.displayWeight,
      "How wrong the screen is while it shows another value of this field: 1 is as wrong as can be. Default: 1; beside `weights` 0.1."
    ),
    PolicyKey(
      "weights", .mapping,
      "Weights of single values, 0 to 1. Two values are as far apart as their weights, but at least `weight`; a value that is not named weighs 0. Not together with `per`.",
      read: { decoder, value, field in field.weights = decoder.valueWeights(value) }),
    PolicyKey(
      "initial", .other,
      "The value that the screen shows of a subject before any event has carried the field, such as 0 for a delay. Left out: nothing, so the first value counts by its weight.",
      read: { decoder, value, field in field.initial = decoder.scalar(value) }),
  ])
}
