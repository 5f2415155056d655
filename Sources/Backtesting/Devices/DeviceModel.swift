import Domain
public import Policies

/// What simulated devices do with a push, hidden from the planner: it sees the receipts and nothing else. Its numbers are
/// data, each with its source and how sure it is; a seed fixes every draw.
public struct DeviceModel: Equatable, Sendable {
  /// Names as the command line takes them.
  public enum Name: String, Sendable, CaseIterable {
    /// The device grants what the planner's own ledger grants: what a plan is worth where its budget is right.
    case trusting
    /// Budgets of the system's own, by how visible the widget is; refuses in silence, sends receipts for what it reloads.
    case apple
  }

  /// A number with its source.
  public struct Figure: Equatable, Sendable {
    public var name: String
    public var value: Double
    public var provenance: BudgetProfile.Provenance

    init(_ name: String, _ value: Double, source: String, confidence: String) {
      self.name = name
      self.value = value
      provenance = BudgetProfile.Provenance(source: source, confidence: confidence)
    }
  }

  public var name: Name
  public var seed: UInt64

  public init(_ name: Name = .trusting, seed: UInt64 = 1) {
    self.name = name
    self.seed = seed
  }

  /// Whether devices have budgets of their own and tell what they do.
  var hasBudgets: Bool { name == .apple }

  /// All numbers of the model, for reports; none of a device that trusts.
  public var figures: [Figure] { hasBudgets ? Self.appleFigures : [] }

  /// Reloads a day of a widget that is never looked at, and of one that is looked at often.
  static let reloadsLeast = Figure(
    "reloadsPerDayLeast", 40, source: "Apple, \"Keeping a widget up to date\"; 40 to 70 a day, by visibility",
    confidence: "high")
  static let reloadsMost = Figure(
    "reloadsPerDayMost", 70, source: "Apple, \"Keeping a widget up to date\"; 40 to 70 a day, by visibility",
    confidence: "high")
  static let looksForMost = Figure(
    "looksPerDayForMost", 60, source: "no figure was found; looks a day from which on a widget gets the most",
    confidence: "inference")
  static let spacing = Figure(
    "spacingSeconds", 300,
    source: "Apple, \"Keeping a widget up to date\"; an unnamed minimum is enforced, entries at least 5 minutes apart",
    confidence: "inference")
  static let anchorLatest = Figure(
    "dayStartsByLocalHour", 6,
    source: "Apple, \"Keeping a widget up to date\"; 24 hours aligned to use, drawn between midnight and this hour",
    confidence: "inference")
  static let seenLeast = Figure(
    "looksThatSeeAWidgetLeast", 0.25,
    source: "no figure was found; a widget is seen in a share of the looks, drawn between this and all",
    confidence: "inference")
  static let looksPerDayLeast = Figure(
    "looksPerDayDrawnLeast", 20, source: "no figure was found; used where --views gives none", confidence: "inference")
  static let looksPerDayMost = Figure(
    "looksPerDayDrawnMost", 100, source: "no figure was found; used where --views gives none", confidence: "inference")
  static let opensApp = Figure(
    "looksThatOpenTheApp", 0.05, source: "no figure was found; a foreground app reloads its widgets for free",
    confidence: "inference")
  static let foregroundSeconds = Figure(
    "foregroundSeconds", 60, source: "no figure was found", confidence: "inference")
  static let receiptSeconds = Figure(
    "receiptSeconds", 2, source: "no figure was found; from the push to the receipt in the log", confidence: "inference"
  )
  static let startsWithToken = Figure(
    "startsThatReturnAToken", 5.0 / 14,
    source: "one team's note: 9 of 14 activities started by push returned no update token", confidence: "low")

  private static let appleFigures = [
    reloadsLeast, reloadsMost, looksForMost, spacing, anchorLatest, seenLeast, looksPerDayLeast, looksPerDayMost,
    opensApp, foregroundSeconds, receiptSeconds, startsWithToken,
  ]

  // MARK: Draws

  /// Numbers that the seed and names fix, whatever else is drawn.
  func random(_ names: String...) -> SeededRandom {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for name in names {
      // FNV-1a, with a byte that no name has between names.
      for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      hash = (hash ^ 0xff) &* 0x100_0000_01b3
    }
    return SeededRandom(seed: seed, stream: hash)
  }

  /// Share of the looks at a device that see this widget of it.
  func seen(device: String, instance: String) -> Double {
    var random = random("seen", device, instance)
    return Self.seenLeast.value + (1 - Self.seenLeast.value) * random.unit()
  }

  /// The budget that the system keeps for a widget.
  /// - Parameter looksPerDay: at the device.
  func budget(device: String, instance: String, zone: String, looksPerDay: Double) -> DeviceBudget {
    var random = random("anchor", device)
    let visibility = min(1, looksPerDay * seen(device: device, instance: instance) / Self.looksForMost.value)
    let perDay = Self.reloadsLeast.value + (Self.reloadsMost.value - Self.reloadsLeast.value) * visibility
    return DeviceBudget(
      perDay: Int(perDay.rounded()), spacing: Int64(Self.spacing.value * 1e6),
      days: LocalDays(zone: zone, anchorMinute: random.below(Int(Self.anchorLatest.value * 60))))
  }
}

/// What the system of one device still grants one widget.
struct DeviceBudget {
  let perDay: Int
  /// µs
  let spacing: Int64
  private let days: LocalDays
  private var dayEnd = Int64.min
  private var spent = 0
  private var last = Int64.min

  init(perDay: Int, spacing: Int64, days: LocalDays) {
    self.perDay = perDay
    self.spacing = spacing
    self.days = days
  }

  /// Whether a push reloads the widget; if not, nothing happens and nobody is told. Instants must not fall.
  mutating func grants(at instant: Int64) -> Bool {
    if instant >= dayEnd {
      dayEnd = days.day(at: instant).end
      spent = 0
    }
    if spent >= perDay || (last != .min && instant - last < spacing) { return false }
    spent += 1
    last = instant
    return true
  }
}
