import Domain

/// A rule while a document is read into it, or while it is shown.
struct RuleDraft {
  var rule: Rule
  /// The surface of the kind; nil if the document misspells it.
  var surface: Surface?
}

extension PolicyKeys {
  /// The description of the keys of an element of `rules`.
  static let rule = PolicyMapping<RuleDraft>([
    PolicyKey(
      "event", .other, required: true, "An event type, or a prefix followed by * (flight.*).",
      read: { decoder, value, draft in
        if let type = decoder.eventType(value) { draft.rule.event = type }
      },
      show: { draft, path, values in
        if values.names == .byIndex { values.add(path, .string(draft.rule.event.text)) }
      }),
    PolicyKey(
      "when", .other,
      "Conditions on fields of the event; the rule is passed over unless all hold. One, or a list of up to 16. Each names a `field` and one or more of is, in, atLeast, below, changed.",
      read: { decoder, value, draft in draft.rule.conditions = decoder.conditions(value) },
      show: { draft, path, values in
        if !draft.rule.conditions.isEmpty {
          values.add(path, .string(draft.rule.conditions.map { PolicyText.of($0) }.joined(separator: ", ")))
        }
      }),
    PolicyKey(
      "interests", .list(1...PolicyBounds.interestsMax), default: "[\"{subject}\"]",
      "The interest keys of such an event: text with {subject}, {type}, {source}, {data.field}. Filters take a part of a field: {data.flight|prefix:2}, {data.team|lower}, {data.route|split:-:1}. A key with a missing field or part is not made.",
      read: { decoder, value, draft in draft.rule.interests = decoder.interests(value) },
      show: { draft, path, values in
        values.add(path, .string(draft.rule.interests.map { PolicyText.of($0) }.joined(separator: ", ")))
      }),
    PolicyKey(
      "relevance", .mapping,
      "How much the event matters as news to somebody who looks: base plus terms, kept within 0 and 1. 0 or less: the event is cosmetic. Left out: as much as it makes the screen wrong by `displays`, which the kind then needs.",
      read: { decoder, value, draft in
        var formula = RelevanceFormula(base: 0)
        _ = decoder.read(value, relevance, into: &formula)
        draft.rule.relevance = formula
      },
      show: { draft, path, values in
        if let formula = draft.rule.relevance { values.add(formula, relevance, at: path) }
      }),
    .duration(
      "maxAge", \.rule.maxAge, PolicyBounds.maxAge,
      "Older events are stale, and pending ones expire at this age. 1s to 30d."),
    PolicyKey<RuleDraft>(
      "action", .choice(Rule.Action.allCases.map(\.rawValue)), default: Rule.Action.update.rawValue,
      "What the event does to a Live Activity. For surface liveActivity and broadcast.",
      read: { decoder, value, draft in draft.rule.action = decoder.action(value, surface: draft.surface) },
      show: { draft, path, values in values.add(path, .string(draft.rule.action.rawValue)) }
    ).shown { $0.surface?.showsActivities == true },
  ])

  /// The description of the keys of `relevance`, in a rule.
  static let relevance = PolicyMapping<RelevanceFormula>([
    .number("base", \.base, PolicyBounds.share, required: true, "Relevance of every event of the rule."),
    PolicyKey(
      "add", .list(0...PolicyBounds.termsMax), "Terms that are added to the base.",
      read: { decoder, value, formula in formula.add = decoder.terms(value) },
      show: { formula, path, values in
        for (index, term) in formula.add.enumerated() { values.add("\(path)[\(index)]", .string(PolicyText.of(term))) }
      }),
  ])
}
