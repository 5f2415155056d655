import Domain
import Policies

/// The policy's settings of one kind, in the units that decisions compute with.
struct KindSettings {
  /// The name of the kind.
  let name: Identifier
  /// The largest number of bytes that the name takes in JSON.
  let nameBytes: Int
  /// The index of the kind in `Policy.kinds`; nil if the policy does not name the kind.
  private(set) var policyIndex: Int?
  /// The number of the time for which policies name the kind without a break, with the same fields: one more than the log offset of the
  /// policy that began it, or that of a kind which displayed these fields already; 0 under the first policy. While no policy names a
  /// kind, its events are not kept. So nothing that was known before is compared with what comes after.
  private(set) var era: UInt64 = 0
  /// Whether pushes are made for the kind; false if the policy switches the kind off.
  private(set) var enabled = false
  /// Whether background pushes are sent even to devices that could get widget pushes.
  private(set) var prefersBackground = false
  /// The fields that the kind displays.
  private(set) var display: KindDisplay
  /// Whether distances of some rows may have been computed by other weights than those of the policy.
  private(set) var hasOtherScales = false
  /// Up to two scales of restored rows and of earlier policies.
  private var scales: Set<UInt64> = []
  /// The limits of the tokens that an instance may spend in a budget day.
  private(set) var day = DayLimits()
  /// The time that must pass between two reloads of an instance.
  private(set) var minInterval = TimeSpan.zero
  /// The relevance from which an event may use the reserve; above 1 if there is no reserve.
  private(set) var reserveAboveRelevance = 2.0
  /// The inverse of the half-life of news, in 1 / µs; 0 if news keeps its interest.
  private(set) var inverseHalfLife = 0.0
  /// The time after which waiting news expires; unbounded if it never does.
  private(set) var newsLife = TimeSpan.zero
  /// The time before a timeline's own reload in which no token is spent, because that reload is free.
  private(set) var imminentReload = TimeSpan.zero

  /// The objective of the kind; nil if it has none.
  private(set) var objective: FreshnessObjective?

  /// Whether the policy switches the kind off. False for a kind that the policy does not name.
  var isDisabled: Bool { policyIndex != nil && !enabled }

  /// Whether the policy names the kind and does not switch it off.
  var isDecided: Bool { policyIndex != nil && enabled }

  /// Creates the settings of a kind. They hold no policy's numbers until `configure`.
  init(name: Identifier) {
    self.name = name
    display = KindDisplay(kind: name, [])
    nameBytes = name.utf8.reduce(0) { $0 + ($1 < 0x20 || $1 == 0x22 || $1 == 0x5c ? 6 : 1) }
  }

  /// Begins an era. Call `configure` next.
  mutating func begin(era: UInt64) { self.era = era }

  /// Notes a scale by which distances of rows of the kind were computed.
  mutating func note(scale: UInt64) {
    // Which others there are does not matter, so two tell whether one of them is not the present one.
    if scales.count < 2 { scales.insert(scale) }
    hasOtherScales = scales.contains { $0 != display.scale }
  }

  /// Takes over a policy's settings.
  /// - Parameters:
  ///   - kind: The settings in the policy, or those of a kind that it does not name.
  ///   - index: The index of the kind in `Policy.kinds`; nil if the policy does not name it.
  ///   - hashKey: The key of the planner's hashes.
  mutating func configure(_ kind: KindPolicy, index: Int?, _ hashKey: HashKey) {
    policyIndex = index
    let before = display
    display = KindDisplay(kind: name, kind.displays, era: era, hashKey: hashKey)
    if !before.isEmpty { note(scale: before.scale) }
    hasOtherScales = scales.contains { $0 != display.scale }
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
    day.reserveTokens = kind.budget.reserveTokens
    reserveAboveRelevance = kind.budget.reserve?.aboveRelevance ?? 2
    inverseHalfLife = kind.halfLife.map { 1 / Double(max(1, $0.microseconds)) } ?? 0
    newsLife = kind.newsLife
    imminentReload = kind.imminentReload
    objective = kind.objective
  }
}
