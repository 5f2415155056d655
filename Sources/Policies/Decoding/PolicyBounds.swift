import Domain

/// The bounds on policy and profile documents. A document that exceeds one is refused, and the message names the bound.
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
  static let problemsMax = 100
  static let kindsMax = 256
  static let appsMax = 10_000
  static let rulesMax = 256
  static let interestsMax = 16
  static let termsMax = 32
  static let displaysMax = 32
  /// The members of one object of a template. The 4,096 bytes of a push have room for fewer useful ones.
  static let templateMembersMax = 64
  /// The levels of objects in a template.
  static let templateDepthMax = 8
  /// The bytes of `version`, which is on every decision.
  static let versionBytesMax = 64

  /// The planner counts a window's tokens exactly; the cap keeps that cheap.
  static let perDay = 1...200
  static let appPerDay = 1...1_000_000_000
  static let rateLimit = 1...100_000
  static let burst = 1...1000
  static let frequentPushesFactor = 1...100
  /// The bytes of the body of a push. No platform accepts more than a few KB.
  static let payloadBytes = 1...65_536
  static let rateWindow = TimeSpan.seconds(1)...TimeSpan.hours(24 * 7)
  static let minInterval = TimeSpan.zero...TimeSpan.hours(24)
  static let halfLife = TimeSpan.seconds(1)...TimeSpan.hours(24 * 7)
  static let imminentReload = TimeSpan.zero...TimeSpan.hours(24)
  static let maxAge = TimeSpan.seconds(1)...TimeSpan.hours(24 * 30)
  /// The quiet end of a Live Activity. The system ends an activity 8 hours after its start (Apple, "Displaying live data with
  /// Live Activities").
  static let quietEnd = TimeSpan.minutes(1)...TimeSpan.hours(8)
  static let staleAfter = TimeSpan.minutes(1)...TimeSpan.hours(8)
  /// The dismissal of an ended activity. The system removes it 4 hours after its end at the latest (same source).
  static let dismissalAfter = TimeSpan.seconds(1)...TimeSpan.hours(4)
  static let relevanceScore = 0.0...1e6
  static let expireAfterHalfLives = 0.1...100.0
  static let share = 0.0...1.0
  static let weight = -1.0...1.0
  /// The units of changes and of `round`. A division by less would lose all meaning.
  static let per = 1e-6...1e12
  static let priceBase = 0.0001...100.0
  static let smoothing = 0.1...1000.0
  /// Days. A device's own views count as 31 days at most, so with the largest weight they hardly count.
  static let viewsWeight = 0.0...1000.0
  static let hourWeight = 0.0...1e9
}
