import Domain

extension PolicyKeys {
  /// The description of the keys of `limits`: the numbers of the profile that a policy can change.
  static let limits = PolicyMapping<BudgetProfile>(
    [
      PolicyKey(
        "instanceReloads", .mapping,
        "Reloads of one widget instance, for kinds whose `budget` does not say.",
        read: { decoder, value, profile in
          if decoder.read(value, reloads, into: &profile.instanceReloads) != nil {
            profile.instanceReloads.provenance = .policy("instanceReloads")
          }
        },
        show: { profile, path, values in values.add(profile.instanceReloads, reloads, at: path) })
    ] + rateKeys { name in rate(name) } + [frequentPushesFactor])

  /// The rates of a profile, with the meaning of each, in the order of documents.
  static let rates:
    [(name: String, place: any WritableKeyPath<BudgetProfile, BudgetProfile.Rate> & Sendable, meaning: String)] = [
      ("devicePushes", \.devicePushes, "WidgetKit pushes to one device, over all its widgets."),
      ("backgroundPushes", \.backgroundPushes, "Background pushes to one device."),
      ("controlPushes", \.controlPushes, "Pushes to one control."),
      ("activityPushes", \.activityPushes, "Pushes of priority 10 to one Live Activity. Priority 5 is free."),
      ("activityStarts", \.activityStarts, "Starts of Live Activities by push on one device."),
    ]

  private static func rateKeys(
    _ read: (String) -> @Sendable (inout PolicyDecoder, Located, inout BudgetProfile.Rate) -> Void
  ) -> [PolicyKey<BudgetProfile>] {
    rates.map { name, place, meaning in
      let read = read(name)
      return PolicyKey(
        name, .mapping, meaning,
        read: { decoder, value, profile in read(&decoder, value, &profile[keyPath: place]) },
        show: { profile, path, values in values.add(profile[keyPath: place], rate, at: path) })
    }
  }

  /// Returns a closure that reads a rate of `limits`. The keys that are given replace numbers of the profile's rate.
  private static func rate(
    _ name: String
  ) -> @Sendable (inout PolicyDecoder, Located, inout BudgetProfile.Rate) -> Void {
    { decoder, value, changed in
      if decoder.read(value, rate, into: &changed) != nil { changed.provenance = .policy(name) }
    }
  }

  private static let frequentPushesFactor = PolicyKey<BudgetProfile>.integer(
    "frequentPushesFactor", \.frequentPushesFactor, PolicyBounds.frequentPushesFactor,
    "The limit of `activityPushes` is this many times larger for activities of people who allow frequent updates.")

  /// The description of the keys of `instanceReloads`.
  static let reloads = PolicyMapping<BudgetProfile.PerDay>([
    .integer("limit", \.limit, PolicyBounds.perDay, "Reloads in a window."),
    .duration("minInterval", \.minInterval, PolicyBounds.minInterval, "Time between two reloads, at most 24h."),
  ])

  /// The description of the keys of a rate, such as `devicePushes`.
  static let rate = PolicyMapping<BudgetProfile.Rate>([
    PolicyKey(
      "limit", .other, "Pushes in a window, or `unlimited`.",
      read: { decoder, value, rate in
        if case .scalar("unlimited", _) = value.node.content {
          decoder.reader.keep(value)
          rate.limit = nil
        } else if let limit = decoder.reader.integer(value, in: PolicyBounds.rateLimit) {
          rate.limit = limit
        }
      },
      show: { rate, path, values in
        values.add(path, rate.limit.map { .number(Double($0)) } ?? .string("unlimited"))
      }),
    .duration("window", \.window, PolicyBounds.rateWindow, "1s to 7d."),
    .integer("burst", \.burst, PolicyBounds.burst, "Pushes that may follow each other at once."),
  ])
}

// MARK: Profile documents

extension PolicyKeys {
  /// The description of the keys of a profile document. Every number is required, because each needs a source.
  static let profile = PolicyMapping<BudgetProfile>(
    [
      PolicyKey(
        "name", .other, required: true,
        "The name that explanations show. Names of profiles that come with Rouse are taken.",
        read: { decoder, value, profile in
          if let name = decoder.reader.text(value, "a name") { profile.name = name }
        }),
      .mapping(
        "instanceReloads", \.instanceReloads, profileReloads, required: true,
        "Reloads of one widget instance in a day of 24 hours."),
      .mapping(
        "timelineReloads", \.timelineReloads, timelineReloads,
        "Whether the reloads of a widget's own timeline count among instanceReloads. Left out: they do, because the platform's number holds for all reloads."
      ),
    ]
      + rates.map { name, place, meaning in
        .mapping(name, place, profileRate, required: true, meaning)
      } + [
        frequentPushesFactor.required,
        .mapping(
          "payload", \.payload, payload, required: true, "Bytes that the body of a Live Activity push may have."),
        PolicyKey(
          "payloadBands", .mapping, required: true,
          "Bodies smaller than these bytes count as safe, watch and risky; up to the limit they are allowed.",
          read: { decoder, value, profile in
            let limit = profile.payload.limit
            decoder.payloadBands(value, limit: limit, into: &profile.payloadBands)
          }
        ).readLast,
      ])

  /// The description of the keys of `instanceReloads` in a profile document: those of `limits`, all required, and the
  /// source.
  static let profileReloads = reloads.allRequired(and: provenance(\.provenance))

  /// The description of the keys of `timelineReloads` in a profile document.
  static let timelineReloads = PolicyMapping<BudgetProfile.TimelineReloads>(
    [
      PolicyKey<BudgetProfile.TimelineReloads>.flag(
        "charged", \.areCharged, "true: each costs a token of the widget."
      ).required
    ] + provenance(\.provenance))

  /// The description of the keys of a rate in a profile document: those of `limits`, all required, and the source.
  static let profileRate = rate.allRequired(and: provenance(\.provenance))

  /// The description of the keys of `payload` in a profile document.
  static let payload = PolicyMapping<BudgetProfile.PayloadLimit>(
    [
      .integer("limit", \.limit, PolicyBounds.payloadBytes, required: true, "Bytes to a device."),
      .integer("broadcastLimit", \.broadcastLimit, PolicyBounds.payloadBytes, required: true, "Bytes to a channel."),
    ] + provenance(\.provenance))

  /// The description of the keys of `payloadBands` in a profile document.
  static let payloadBands = PolicyMapping<BudgetProfile.PayloadBands>(
    [
      .integer("safe", \.safe, PolicyBounds.payloadBytes, required: true, "Smaller bodies are safe."),
      .integer("watch", \.watch, PolicyBounds.payloadBytes, required: true, "Smaller bodies are in the band watch."),
      .integer(
        "risky", \.risky, PolicyBounds.payloadBytes, required: true, "Smaller bodies are risky, larger ones allowed."),
    ] + provenance(\.provenance))

  /// Returns the description of the keys `source` and `confidence`, which say where a number comes from and how sure it
  /// is.
  private static func provenance<Owner>(
    _ place: any WritableKeyPath<Owner, BudgetProfile.Provenance> & Sendable
  ) -> [PolicyKey<Owner>] {
    [
      PolicyKey(
        "source", .other, required: true, "Where the number comes from.",
        read: { decoder, value, owner in
          if let text = decoder.reader.text(value, "where the number comes from") {
            owner[keyPath: place].source = text
          }
        }),
      PolicyKey(
        "confidence", .choice(BudgetProfile.confidences), required: true,
        "high: the platform's maker publishes it. medium: the maker says it elsewhere. low: it circulates. inference: it was worked out or assumed.",
        read: { decoder, value, owner in
          if let text = decoder.reader.choice(value, among: BudgetProfile.confidences) {
            owner[keyPath: place].confidence = text
          }
        }),
    ]
  }
}
