import Domain
public import Policies
import Replay

/// A model of devices that receive pushes. The planner does not see it, only what the devices and the sender of the pushes say.
/// Every number of the model names its source and confidence, and a seed fixes every random choice.
public struct DeviceModel: Equatable, Sendable {
  /// The name of a model, as the command line takes it.
  public enum Name: String, Sendable, CaseIterable {
    /// Devices reload for every push. Shows what a plan is worth if its budget is right.
    case trusting
    /// Devices have hidden budgets that depend on how visible a widget is. They refuse pushes without notice, and send a
    /// receipt for each reload. Starts, tokens and pushes of Live Activities are lost, and people remove some (`ActivityCourses`).
    case apple
  }

  /// A number with its source.
  public struct Parameter: Equatable, Sendable {
    /// The name in reports, with the unit.
    public var name: String
    /// The number.
    public var value: Double
    /// The source of the number, and the confidence in it.
    public var provenance: BudgetProfile.Provenance

    init(_ name: String, _ value: Double, source: String, confidence: String) {
      self.name = name
      self.value = value
      provenance = BudgetProfile.Provenance(source: source, confidence: confidence)
    }
  }

  /// The name of the model.
  public var name: Name
  /// The seed of all random choices.
  public var seed: UInt64

  /// Creates a model.
  /// - Parameters:
  ///   - name: The name of the model.
  ///   - seed: The seed of all random choices.
  public init(_ name: Name = .trusting, seed: UInt64 = 1) {
    self.name = name
    self.seed = seed
  }

  /// Whether devices have hidden budgets and send receipts, and whether what concerns Live Activities can fail.
  var hasBudgets: Bool { name == .apple }

  /// All numbers of the model, for reports. The trusting model has none.
  public var figures: [Parameter] { hasBudgets ? Self.appleFigures : [] }

  /// The reloads a day of a widget without any looks.
  static let reloadsLeast = Parameter(
    "reloadsPerDayLeast", 40, source: "Apple, \"Keeping a widget up to date\"; 40 to 70 a day, by visibility",
    confidence: "high")
  /// The reloads a day of a widget that people look at often.
  static let reloadsMost = Parameter(
    "reloadsPerDayMost", 70, source: "Apple, \"Keeping a widget up to date\"; 40 to 70 a day, by visibility",
    confidence: "high")
  /// The looks a day from which a widget gets the most reloads.
  static let looksForMost = Parameter(
    "looksPerDayForMost", 60, source: "no figure was found; looks a day from which on a widget gets the most",
    confidence: "inference")
  /// The least time between two reloads of a widget.
  static let spacing = Parameter(
    "spacingSeconds", 300,
    source: "Apple, \"Keeping a widget up to date\"; an unnamed minimum is enforced, entries at least 5 minutes apart",
    confidence: "inference")
  /// The latest local hour at which a device's day begins.
  static let anchorLatest = Parameter(
    "dayStartsByLocalHour", 6,
    source: "Apple, \"Keeping a widget up to date\"; 24 hours aligned to use, drawn between midnight and this hour",
    confidence: "inference")
  /// The least share of the looks at a device that see a given widget.
  static let seenLeast = Parameter(
    "looksThatSeeAWidgetLeast", 0.25,
    source: "no figure was found; a widget is seen in a share of the looks, drawn between this and all",
    confidence: "inference")
  /// The fewest looks a day at a device without recorded looks.
  static let looksPerDayLeast = Parameter(
    "looksPerDayDrawnLeast", 20, source: "no figure was found; used where --views gives none", confidence: "inference")
  /// The most looks a day at a device without recorded looks.
  static let looksPerDayMost = Parameter(
    "looksPerDayDrawnMost", 100, source: "no figure was found; used where --views gives none", confidence: "inference")
  /// The share of looks that open the app.
  static let opensApp = Parameter(
    "looksThatOpenTheApp", 0.05, source: "no figure was found; a foreground app reloads its widgets for free",
    confidence: "inference")
  /// The time that an opened app stays in the foreground.
  static let foregroundSeconds = Parameter(
    "foregroundSeconds", 60, source: "no figure was found", confidence: "inference")
  /// The time from a push to its receipt.
  static let receiptSeconds = Parameter(
    "receiptSeconds", Double(ModelledActivities.soon.microseconds) / 1e6,
    source: "no figure was found; from the push to the receipt in the log", confidence: "inference")
  /// The share of starts after which the system wakes the app, which then registers the activity's token. Otherwise it does when a person
  /// opens it.
  static let startsThatWakeTheApp = Parameter(
    "startsThatWakeTheApp", 5.0 / 14,
    source:
      "one team's note: 9 of 14 activities started by push returned no update token; of these the app registers one when opened",
    confidence: "low")
  /// The starts that a device shows in 24 hours. It accepts more and does nothing.
  static let startsPerDay = Parameter(
    "startsPerDay", 10,
    source: "Apple's developer forum, thread 799505; about 10 in a short time, which is not stated; a day is taken",
    confidence: "low")
  /// The share of pushes to Live Activities that APNs refuses, because the token has changed since it was registered.
  static let activityPushesRefused = Parameter(
    "activityPushesRefused", 0.01, source: "no figure was found; tokens change, as Apple's documentation says",
    confidence: "inference")
  /// The share of the looks at a device after which the person removes an activity.
  static let looksThatRemoveAnActivity = Parameter(
    "looksThatRemoveAnActivity", 0.01, source: "no figure was found; the app reports it at once",
    confidence: "inference")

  private static let appleFigures = [
    reloadsLeast, reloadsMost, looksForMost, spacing, anchorLatest, seenLeast, looksPerDayLeast, looksPerDayMost,
    opensApp, foregroundSeconds, receiptSeconds, startsThatWakeTheApp, startsPerDay,
    activityPushesRefused, looksThatRemoveAnActivity,
  ]

  // MARK: Random choices

  /// Returns a generator whose numbers depend on the seed and the names alone, not on what else was drawn.
  /// - Parameter names: The purpose of the choice, and the ids that it is about.
  func random(_ names: Identifier...) -> SeededRandom {
    var hash = FNV1a()
    for name in names { hash.add(text: name.utf8.span) }
    return SeededRandom(seed: seed, stream: hash.value)
  }

  /// Returns whether a look opens the app.
  /// - Parameters:
  ///   - device: The id of the device.
  ///   - look: The time of the look, µs.
  func opensApp(device: Identifier, look: Int64) -> Bool {
    var random = random("opens", device, "\(look)")
    return random.unit() < Self.opensApp.value
  }

  /// Returns the share of the looks at a device that see one of its widgets, 0…1.
  func seen(device: Identifier, instance: Identifier) -> Double {
    var random = random("seen", device, instance)
    return Self.seenLeast.value + (1 - Self.seenLeast.value) * random.unit()
  }

  /// Returns the hidden budget that the system keeps for a widget.
  /// - Parameters:
  ///   - device: The id of the device.
  ///   - instance: The id of the widget.
  ///   - zone: The IANA id of the device's time zone.
  ///   - looksPerDay: The mean number of looks a day at the device.
  func budget(device: Identifier, instance: Identifier, zone: String, looksPerDay: Double) -> DeviceBudget {
    var random = random("anchor", device)
    let visibility = min(1, looksPerDay * seen(device: device, instance: instance) / Self.looksForMost.value)
    let perDay = Self.reloadsLeast.value + (Self.reloadsMost.value - Self.reloadsLeast.value) * visibility
    return DeviceBudget(
      perDay: Int(perDay.rounded()), spacing: Int64(Self.spacing.value * 1e6),
      days: LocalDays(zone: zone, anchorMinute: random.below(Int(Self.anchorLatest.value * 60))))
  }
}
