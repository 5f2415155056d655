import Domain

/// Every bound on a policy document, in one place. A document beyond one is refused with the bound named.
enum PolicyBounds {
  /// Kafka's default message limit is 1 MiB, and a policy travels as one record.
  static let documentBytesMax = 1 << 20
  /// The largest useful policy (256 kinds of 20 rules) has fewer values than this.
  static let valuesMax = 100_000
  /// The deepest value of a valid policy is at level 23: a field in eight objects of a content state.
  static let nestingMax = 32
  /// Keys of a mapping that has 10 known ones; the nearest name is sought for each unknown one.
  static let keysMax = 64
  /// Errors, and warnings, shown at once; more would not be read.
  static let problemsMax = 100
  static let kindsMax = 256
  static let appsMax = 10_000
  static let rulesMax = 256
  static let interestsMax = 16
  static let termsMax = 32
  static let displaysMax = 32
  /// Members of one object of a template; a push has 4,096 bytes, which hold fewer worth reading.
  static let templateMembersMax = 64
  /// Objects in objects of a template.
  static let templateDepthMax = 8
  /// Bytes of `version`: it is on every decision.
  static let versionBytesMax = 64

  /// The planner counts a window's tokens exactly; the cap keeps that cheap.
  static let perDay = 1...200
  static let appPerDay = 1...1_000_000_000
  static let rateLimit = 1...100_000
  static let burst = 1...1000
  static let frequentPushesFactor = 1...100
  /// Of the body of a push. No platform takes more than a few KB.
  static let payloadBytes = 1...65_536
  static let rateWindow = TimeSpan.seconds(1)...TimeSpan.hours(24 * 7)
  static let minInterval = TimeSpan.zero...TimeSpan.hours(24)
  static let halfLife = TimeSpan.seconds(1)...TimeSpan.hours(24 * 7)
  static let imminentReload = TimeSpan.zero...TimeSpan.hours(24)
  static let maxAge = TimeSpan.seconds(1)...TimeSpan.hours(24 * 30)
  /// Of a Live Activity: the system ends it 8 hours after its start ("Displaying live data with Live Activities").
  static let quietEnd = TimeSpan.minutes(1)...TimeSpan.hours(8)
  static let staleAfter = TimeSpan.minutes(1)...TimeSpan.hours(8)
  /// The system removes an activity 4 hours after its end at the latest (same source).
  static let dismissalAfter = TimeSpan.seconds(1)...TimeSpan.hours(4)
  static let relevanceScore = 0.0...1e6
  static let expireAfterHalfLives = 0.1...100.0
  static let share = 0.0...1.0
  static let weight = -1.0...1.0
  /// Also of `round`: the unit of a change; below this a division would lose all meaning.
  static let per = 1e-6...1e12
  static let priceBase = 0.0001...100.0
  static let smoothing = 0.1...1000.0
  /// Days. A device's own views count as 31 at most, so this makes nothing of them.
  static let viewsWeight = 0.0...1000.0
  static let hourWeight = 0.0...1e9
}
