import Domain

/// What the widgets of a made-up fleet are.
public struct FleetTemplate: Equatable, Sendable {
  /// Bundle id of every device's app.
  public var app: String
  public var kinds: [Kind]

  public init(app: String = FleetTemplate.defaultApp, kinds: [Kind]) {
    self.app = app
    self.kinds = kinds
  }

  public static let defaultApp = "com.example.glance"

  /// One widget kind and the subjects that its widgets are about.
  public struct Kind: Equatable, Sendable {
    public var name: String
    /// Interests are drawn from the subjects that begin with this; empty: from those without a `/`.
    public var subjectPrefix: String
    /// How many of the widgets, in proportion to the other kinds' weights; nil: as many as it has subjects, so that
    /// a few hot subjects do not get a large part of the fleet.
    public var weight: Int?
    public var families: [String]
    /// Interests of one widget, each number as likely.
    public var interestsPerWidget: ClosedRange<Int>

    public init(
      name: String, subjectPrefix: String, weight: Int? = nil, families: [String] = Kind.defaultFamilies,
      interestsPerWidget: ClosedRange<Int> = 1...2
    ) {
      self.name = name
      self.subjectPrefix = subjectPrefix
      self.weight = weight
      self.families = families
      self.interestsPerWidget = interestsPerWidget
    }

    public static let defaultFamilies = ["systemSmall", "systemMedium", "accessoryRectangular"]
  }

  /// Kinds of one template; more is a mistake, most often subjects that begin with an id.
  public static let kindsMax = 256
  /// So that sums of weights stay far from overflow.
  public static let weightMax = 1_000_000

  /// For the flight events of the demo: a flight or two to follow, the home airport, the weather there.
  public static let flights = FleetTemplate(kinds: [
    Kind(
      name: "FlightStatus", subjectPrefix: "flight/",
      families: ["systemSmall", "systemMedium", "accessoryRectangular", "accessoryInline"], interestsPerWidget: 1...3),
    Kind(
      name: "AirportDelays", subjectPrefix: "airport/", families: ["systemSmall", "systemMedium"],
      interestsPerWidget: 1...1),
    Kind(
      name: "WeatherNow", subjectPrefix: "weather/", families: ["systemSmall", "accessoryCircular"],
      interestsPerWidget: 1...1),
  ])

  /// What suits the events: `flights` where all three of its prefixes occur, else one kind per prefix, named after it.
  public init(suiting subjects: FleetSubjects) throws(FleetError) {
    let prefixes = subjects.groups.map(\.prefix)
    if Self.flights.kinds.allSatisfy({ prefixes.contains($0.subjectPrefix) }) {
      self = .flights
      return
    }
    if prefixes.count > Self.kindsMax {
      throw .subjects(
        problem: "\(subjects.path): subjects with \(prefixes.count) different prefixes, expected at most "
          + "\(Self.kindsMax) to make a kind of each; name the kinds with --kinds")
    }
    self.init(kinds: prefixes.map { Kind(name: Self.kindName(of: $0), subjectPrefix: $0) })
  }

  /// `live-score/` becomes `LiveScore`, no prefix `Subject`.
  static func kindName(of prefix: String) -> String {
    let words = prefix.split { !$0.isLetter && !$0.isNumber }
    if words.isEmpty { return "Subject" }
    return words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  /// Refuses what no registration could carry.
  func validate(place: String) throws(FleetError) {
    func refuse(_ problem: String) -> FleetError { .template(place: place, problem: problem) }
    try Self.validateName(app, "app", place)
    if kinds.isEmpty { throw refuse("no kinds, expected at least one") }
    if kinds.count > Self.kindsMax { throw refuse("\(kinds.count) kinds, expected at most \(Self.kindsMax)") }
    for (index, kind) in kinds.enumerated() {
      try Self.validateName(kind.name, "the name of kind \(index + 1)", place)
      if kinds[..<index].contains(where: { $0.name == kind.name }) { throw refuse("kind \(kind.name) occurs twice") }
      if let weight = kind.weight, !(1...Self.weightMax).contains(weight) {
        throw refuse("\(kind.name): weight \(weight), expected 1 to \(Self.weightMax)")
      }
      if kind.families.isEmpty { throw refuse("\(kind.name): no families, expected at least one") }
      for family in kind.families { try Self.validateName(family, "a family of \(kind.name)", place) }
      let range = kind.interestsPerWidget
      if range.lowerBound < 1 || range.upperBound > DomainBounds.interestsPerInstanceMax {
        throw refuse(
          "\(kind.name): \(range.lowerBound) to \(range.upperBound) interests per widget, expected 1 to "
            + "\(DomainBounds.interestsPerInstanceMax)")
      }
    }
    let weighted = kinds.count { $0.weight != nil }
    if weighted != 0 && weighted != kinds.count {
      throw refuse("\(weighted) of \(kinds.count) kinds have a weight, expected all or none")
    }
  }

  private static func validateName(_ name: String, _ what: String, _ place: String) throws(FleetError) {
    let bytes = name.utf8.count
    if bytes == 0 { throw .template(place: place, problem: "\(what) is empty") }
    if bytes > DomainBounds.nameBytesMax {
      throw .template(
        place: place, problem: "\(what) has \(bytes) bytes, expected at most \(DomainBounds.nameBytesMax)")
    }
  }
}
