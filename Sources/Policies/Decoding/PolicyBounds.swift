import Domain

/// The bounds on policy and profile documents. A document that exceeds one is refused, and the message names the bound.
///
/// - Beyond: refused, with its place.
enum PolicyBounds {
  /// The bytes of a document. Kafka's default message limit is 1 MiB, and a policy travels as one record.
  static let documentBytesMax = 1 << 20
  /// The values of a document. The largest useful policy (256 kinds of 20 rules) has fewer.
  static let valuesMax = 100_000
  /// The levels of nesting. The deepest value of a valid policy is at level 23: a field in eight objects of a content state.
  static let nestingMax = 32
  /// The keys of a mapping with known keys, of which there are 12 at most. For each unknown key the nearest name is searched.
  static let keysMax = 64
  /// The errors, and the warnings, that are shown at once. More would not help the reader.
  /// - Beyond: further ones are not shown.
  static let problemsMax = 100
  /// The kinds of a policy.
  static let kindsMax = 256
  /// The apps of a policy with limits of their own.
  static let appsMax = 10_000
  /// The rules of a kind.
  static let rulesMax = 256
  /// The interest templates of a rule.
  static let interestsMax = 16
  /// The terms of a rule's relevance.
  static let termsMax = 32
  /// The conditions of a rule.
  static let conditionsMax = 16
  /// The values of one condition.
  static let conditionValuesMax = 64
  /// The filters of one placeholder of an interest key.
  static let keyFiltersMax = 4
  /// The bytes of the separator of a `split` filter.
  static let keySeparatorBytesMax = 16
  /// The characters of a `prefix` filter.
  static let keyPrefix = 1...256
  /// The number of the part that a `split` filter takes, counted from the front or from the back.
  static let keyParts = 1...64
  /// The numbers that a condition compares with.
  static let conditionNumber = -1e15...1e15
  /// The displayed fields of a kind.
  static let displaysMax = 32
  /// The values of a displayed field with a weight of their own. They are searched one by one.
  static let displayWeightsMax = 32
  /// The members of one object of a template. The 4,096 bytes of a push have room for fewer useful ones.
  static let templateMembersMax = 64
  /// The levels of objects in a template.
  static let templateDepthMax = 8
  /// The arguments of a localized text of an alert.
  static let alertArgumentsMax = 8
  /// The bytes of `version`, which is on every decision.
  static let versionBytesMax = 64

  /// The reloads of an instance in a day. The planner counts them exactly; the bound keeps that cheap.
  static let perDay = 1...200
  /// The pushes of a whole app in a day.
  static let appPerDay = 1...1_000_000_000
  /// The pushes of a whole app in a day whose charges are given back. With 0 nothing is.
  static let appRefundsPerDay = 0...1_000_000_000
  /// The pushes in the window of a rate.
  static let rateLimit = 1...100_000
  /// The burst of a rate: the pushes that may follow each other without a wait.
  static let burst = 1...1000
  /// The factor for Live Activities of people who allow frequent updates.
  static let frequentPushesFactor = 1...100
  /// The bytes of the body of a push. No platform accepts more than a few KB.
  static let payloadBytes = 1...65_536
  /// The window of a rate.
  static let rateWindow = TimeSpan.seconds(1)...TimeSpan.hours(24 * 7)
  /// The least time between two reloads of an instance.
  static let minInterval = TimeSpan.zero...TimeSpan.hours(24)
  /// The time in which news loses half of its interest.
  static let halfLife = TimeSpan.seconds(1)...TimeSpan.hours(24 * 7)
  /// The time before an instance's own scheduled reload in which a push is not worth a token.
  static let imminentReload = TimeSpan.zero...TimeSpan.hours(24)
  /// The age at which an event no longer causes a reload.
  static let maxAge = TimeSpan.seconds(1)...TimeSpan.hours(24 * 30)
  /// The time without an event after which a quiet Live Activity is ended. The system ends an activity 8 hours after
  /// its start (Apple, "Displaying live data with Live Activities").
  static let quietEnd = TimeSpan.minutes(1)...TimeSpan.hours(8)
  /// `restartAfterDismissal`. A dismissal is remembered for 24 hours.
  static let restartAfterDismissal = TimeSpan.minutes(1)...TimeSpan.hours(24)
  /// The time within which an alert follows its update. What happened longer ago is no news any more.
  static let alertWait = TimeSpan.seconds(10)...TimeSpan.minutes(5)
  /// The time after which a Live Activity shows that it is stale.
  static let staleAfter = TimeSpan.minutes(1)...TimeSpan.hours(8)
  /// The time from the end of a Live Activity until it leaves the lock screen. The system removes it 4 hours after its
  /// end at the latest (same source).
  static let dismissalAfter = TimeSpan.seconds(1)...TimeSpan.hours(4)
  /// The relevance score of a Live Activity, which orders activities on a device.
  static let relevanceScore = 0.0...1e6
  /// The time in which a screen is to show a change.
  static let freshWithin = TimeSpan.seconds(1)...TimeSpan.hours(24 * 7)
  /// The share of an objective. With 1 there would be no error budget, and every rate of misses would burn it infinitely fast.
  static let objectiveShare = 0.01...0.9999
  /// A share of a budget, a relevance, or the weight of one value of a displayed field.
  static let share = 0.0...1.0
  /// The weight of a term of a relevance formula.
  static let weight = -1.0...1.0
  /// The weight of a displayed field. With a weight of 0 the field would make no difference, so it would not count as
  /// shown.
  static let displayWeight = 0.001...1.0
  /// The `per` of a displayed field as a percentage of the shown value.
  static let perPercent = 0.0001...10_000.0
  /// The `per` of a relevance term or of a displayed field, and the `round` of a displayed field. Numbers are divided
  /// by it, and a division by less would lose all meaning.
  static let per = 1e-6...1e12
  /// The weight of the policy's hours beside a device's own views, in days. Own views count as 31 days at most, so with the
  /// largest weight they hardly count.
  static let viewsWeight = 0.0...1000.0
  /// The weight of one hour of the day in the chance of a look.
  static let hourWeight = 0.0...1e9
}
