import Domain

/// The `activity` of a kind while a document is read into it, or while it is shown.
struct ActivityDraft {
  var policy: ActivityPolicy
  var surface: Surface
}

extension PolicyKeys {
  /// The description of the keys of `activity`, in a kind.
  static let activity = PolicyMapping<ActivityDraft>([
    PolicyKey(
      "attributesType", .other,
      "Swift type of the attributes, as the app declares it. Required where a rule starts activities.",
      read: { decoder, value, draft in draft.policy.attributesType = decoder.attributesType(value) },
      show: { draft, path, values in
        if let type = draft.policy.attributesType { values.add(path, .string(type)) }
      }),
    PolicyKey(
      "attributes", .mapping, "Static data, sent with a start only.",
      read: { decoder, value, draft in
        draft.policy.attributes = decoder.members(value, of: "attributes", depth: 0) ?? []
      },
      show: { draft, path, values in values.add(draft.policy.attributes, at: path) }),
    PolicyKey(
      "contentState", .mapping, required: true,
      "What the activity shows; at least one member, in the names of the app's ContentState.",
      read: { decoder, value, draft in draft.policy.contentState = decoder.contentState(value) },
      show: { draft, path, values in values.add(draft.policy.contentState, at: path) }),
    PolicyKey(
      "alert", .mapping, "A start always carries it. Required where a rule starts activities.",
      read: { decoder, value, draft in draft.policy.alert = decoder.alert(value) },
      show: { draft, path, values in
        if let template = draft.policy.alert { values.add(template, alert, at: path) }
      }),
    .duration(
      "staleAfter", \.policy.staleAfter, PolicyBounds.staleAfter,
      "An activity turns stale this long after its last push. 1m to 8h. Default: never."),
    .duration(
      "quietEnd", \.policy.quietEnd, PolicyBounds.quietEnd, default: "2h",
      "An activity is ended when no new event has come by its interest keys for this long, whether or not it shows them. 1m to 8h."
    ),
    .duration(
      "restartAfterDismissal", \.policy.restartAfterDismissal, PolicyBounds.restartAfterDismissal,
      "A subject whose activity a person has removed may be started again this long after that. 1m to 24h. Default: not before its activities were ended and started again."
    ),
    PolicyKey(
      "restartWithoutToken", .flag, default: "false",
      "Whether the next event about a subject starts its activity again, once, if the device has not registered the one that was started half an hour ago. If that one did arrive, there are two, and the first cannot be updated.",
      read: { decoder, value, draft in
        if let restarts = decoder.reader.flag(value) { draft.policy.restartWithoutToken = restarts }
      },
      show: { draft, path, values in values.add(path, .bool(draft.policy.restartWithoutToken)) }),
    PolicyKey(
      "dismissal", .other, default: "default",
      "When an ended activity leaves the lock screen: default (as the system likes, within 4h), immediate, or after a time of 1s to 4h, where the system caps it.",
      read: { decoder, value, draft in
        if let dismissal = decoder.dismissal(value) { draft.policy.dismissal = dismissal }
      },
      show: { draft, path, values in
        switch draft.policy.dismissal {
        case .default: values.add(path, .string("default"))
        case .immediate: values.add(path, .string("immediate"))
        case .after(let span): values.add("\(path).after", PolicyText.duration(span))
        }
      }),
    .number(
      "relevanceScore", \.policy.relevanceScore, PolicyBounds.relevanceScore, default: "100",
      "relevance-score is how much the activity matters, times this: the relevance of its events, which fades with halfLife, and never less than that of the event at hand. 0 leaves it out. The system compares the app's activities with each other only."
    ),
    PolicyKey(
      "dates", .other, default: "2001",
      "Where { date } in the templates counts seconds from: 2001, as Swift's default date decoding expects, or 1970.",
      read: { decoder, value, draft in
        let bases = ActivityPolicy.DateBase.allCases.map(\.rawValue)
        let base = decoder.reader.choice(value, among: bases).flatMap(ActivityPolicy.DateBase.init(rawValue:))
        if let base { draft.policy.dates = base }
      },
      show: { draft, path, values in values.add(path, .string(draft.policy.dates.rawValue)) }),
    PolicyKey<ActivityDraft>(
      "channel", .other,
      "Surface broadcast only: the id of the channel to which a started activity listens, such as {data.channel}. Required where a rule starts activities; iOS and iPadOS take such starts from 18 on.",
      read: { decoder, value, draft in draft.policy.channel = decoder.startChannel(value, draft.surface) },
      show: { draft, path, values in
        if let channel = draft.policy.channel { values.add(path, .string(PolicyText.of(channel))) }
      }
    ).shown { $0.surface.traits.isChannel },
    PolicyKey<ActivityDraft>(
      "channelStoresNewest", .flag, default: "false",
      "Surface broadcast only: the channel keeps its newest message for devices that come back later.",
      read: { decoder, value, draft in
        draft.policy.channelStoresNewest = decoder.channelStoresNewest(value, draft.surface)
      },
      show: { draft, path, values in values.add(path, .bool(draft.policy.channelStoresNewest)) }
    ).shown { $0.surface.traits.isChannel },
    PolicyKey<ActivityDraft>(
      "timeZone", .other,
      "Surface broadcast only: the IANA name of the time zone whose quietHours hold for the channels. Default: none hold, because a channel's devices are everywhere.",
      read: { decoder, value, draft in draft.policy.timeZone = decoder.channelTimeZone(value, draft.surface) },
      show: { draft, path, values in
        if let zone = draft.policy.timeZone { values.add(path, .string(zone.text)) }
      }
    ).shown { $0.surface.traits.isChannel },
  ])

  /// The description of the keys of `activity.alert`, in a kind.
  static let alert = PolicyMapping<AlertTemplate>([
    PolicyKey(
      "title", .other, required: true,
      "The title, with placeholders, or { locKey: KEY, locArgs: [TEXT, …] }: a key of the app's localized texts, and what takes the places of its arguments.",
      read: { decoder, value, alert in
        if let title = decoder.alertText(value) { alert.title = title }
      },
      show: { alert, path, values in values.add(alert.title, at: path) }),
    PolicyKey(
      "body", .other, required: true, "The text below the title, likewise.",
      read: { decoder, value, alert in
        if let body = decoder.alertText(value) { alert.body = body }
      },
      show: { alert, path, values in values.add(alert.body, at: path) }),
    PolicyKey(
      "sound", .other, "The name of a sound file in the app, or default. Default: no sound.",
      read: { decoder, value, alert in
        if let sound = decoder.reader.name(value, "the name of a sound file, or default") {
          alert.sound = Identifier(sound)
        }
      },
      show: { alert, path, values in
        if let sound = alert.sound { values.add(path, .string(sound.text)) }
      }),
    .relevanceBound(
      "aboveRelevance", \.aboveRelevance,
      "Updates of this relevance or more carry the alert if they go at priority 10: in quiet hours, and without a token for it, they go without. Default: no update."
    ),
    .duration(
      "wait", \.wait, PolicyBounds.alertWait,
      "Without a token for priority 10 the update goes at once, and its alert with a push of its own when there is a token again, at most this long after. 10s to 5m. Default: the alert is left out."
    ),
  ])
}
