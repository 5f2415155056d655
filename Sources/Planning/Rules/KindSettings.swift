import Domain
import Policies

/// The policy's numbers of one kind, in the units of the hot path.
struct KindSettings {
  let name: String
  /// The bytes of the name in JSON at most.
  let nameBytes: Int
  /// The index in the policy's kinds; nil where the policy does not know the kind.
  private(set) var policyIndex: Int?
  private(set) var enabled = false
  /// Whether the kind is pushed by waking the app even where a widget push could go.
  private(set) var prefersBackground = false
  private(set) var day = DayLimits()
  private(set) var minInterval = TimeSpan.zero
  private(set) var reserveAboveRelevance = 2.0
  /// 1 / half-life in µs
  private(set) var inverseHalfLife = 0.0
  private(set) var expireAfter = TimeSpan.zero
  private(set) var imminentReload = TimeSpan.zero
  private(set) var floor = 0.0

  /// Whether the policy switches the kind off, which is not the same as not knowing it.
  var isDisabled: Bool { policyIndex != nil && !enabled }

  init(name: String) {
    self.name = name
    nameBytes = name.utf8.reduce(0) { $0 + ($1 < 0x20 || $1 == 0x22 || $1 == 0x5c ? 6 : 1) }
  }

  /// Takes over a policy's numbers.
  /// - Parameters:
  ///   - kind: The kind in the policy, or the numbers of one that it does not know.
  ///   - index: The index in the policy's kinds; nil where it does not know the kind.
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
