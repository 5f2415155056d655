import Domain
import Policies

/// The policy's settings of one kind, in the units that decisions compute with.
struct KindSettings {
  /// The name of the kind.
  let name: Identifier
  /// The largest number of bytes that the name takes in JSON.
  let nameBytes: Int
  /// The index in the policy's kinds; nil if the policy does not name the kind.
  private(set) var policyIndex: Int?
  /// Whether events of the kind are decided; false if the policy switches the kind off.
  private(set) var enabled = false
  /// Whether background pushes are sent even to devices that could get widget pushes.
  private(set) var prefersBackground = false
  /// The limits of the day's count.
  private(set) var day = DayLimits()
  /// The time that must pass between two reloads.
  private(set) var minInterval = TimeSpan.zero
  /// The relevance from which an event may use the reserve; above 1 if there is no reserve.
  private(set) var reserveAboveRelevance = 2.0
  /// The inverse of the half-life, in 1 / µs.
  private(set) var inverseHalfLife = 0.0
  /// The time after which a pending event expires.
  private(set) var expireAfter = TimeSpan.zero
  /// The time before a timeline's own reload in which no token is spent, because that reload is free.
  private(set) var imminentReload = TimeSpan.zero
  /// The value below which no token is spent, however many are left.
  private(set) var floor = 0.0

  /// Whether the policy switches the kind off. False for a kind that the policy does not name.
  var isDisabled: Bool { policyIndex != nil && !enabled }

  /// Creates the settings of a kind. They hold no policy's numbers until `configure`.
  init(name: Identifier) {
    self.name = name
    nameBytes = name.utf8.reduce(0) { $0 + ($1 < 0x20 || $1 == 0x22 || $1 == 0x5c ? 6 : 1) }
  }

  /// Takes over a policy's settings.
  /// - Parameters:
  ///   - kind: The settings in the policy, or those of a kind that it does not name.
  ///   - index: The index in the policy's kinds; nil if it does not name the kind.
  mutating func configure(_ kind: KindPolicy, index: Int?) {
    policyIndex = index
    enabled = kind.enabled
    prefersBackground = kind.surface == .background
    day.perDay = kind.budget.perDay
    minInterval = kind.budget.minInterval
    switch kind.budget.window {
    case .localDay(let minute):
      day.anchorMinute = minute
      day.rolling = false
    case .rolling:
      day.anchorMinute = 240
      day.rolling = true
    }
    day.reserveTokens = (kind.budget.reserve?.share ?? 0) * Double(kind.budget.perDay)
    reserveAboveRelevance = kind.budget.reserve?.aboveRelevance ?? 2
    inverseHalfLife = 1 / Double(max(1, kind.halfLife.microseconds))
    expireAfter = TimeSpan(microseconds: Int64(Double(kind.halfLife.microseconds) * kind.expireAfterHalfLives))
    imminentReload = kind.imminentReload
    floor = kind.price.floor
  }
}
