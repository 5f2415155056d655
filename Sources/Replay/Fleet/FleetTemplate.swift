public import Domain

/// The app and the widget kinds of a synthetic fleet.
public struct FleetTemplate: Equatable, Sendable {
  /// The bundle id of the app on every device.
  public var app: Identifier
  /// The widget kinds, 1 to `kindsMax`.
  public var kinds: [Kind]

  /// Creates a template.
  /// - Parameters:
  ///   - app: The bundle id of the app on every device.
  ///   - kinds: The widget kinds.
  public init(app: Identifier = FleetTemplate.defaultApp, kinds: [Kind]) {
    self.app = app
    self.kinds = kinds
  }

  /// The bundle id of fleets whose template names none.
  public static let defaultApp: Identifier = "com.example.glance"

  /// One widget kind and the subjects that its widgets show.
  public struct Kind: Equatable, Sendable {
    /// The name of the kind, as policies name it.
    public var name: Identifier
    /// The prefix of the subjects from which interests are drawn; empty draws from subjects without a `/`.
    public var subjectPrefix: Identifier
    /// The number of widgets in proportion to the weights of the other kinds, 1 to `weightMax`. Nil takes the number of
    /// the kind's subjects, but at least a tenth of the widgets for each kind.
    public var weight: Int?
    /// The widget families, each as likely as the others; at least one.
    public var families: [String]
    /// The number of interests of one widget. Every number in the range is as likely as the others.
    public var interestsPerWidget: ClosedRange<Int>

    /// Creates a kind.
    /// - Parameters:
    ///   - name: The name of the kind, as policies name it.
    ///   - subjectPrefix: The prefix of the subjects from which interests are drawn.
    ///   - weight: The share in proportion to other kinds; nil takes the number of subjects, but at least a tenth of the widgets.
    ///   - families: The widget families.
    ///   - interestsPerWidget: The number of interests of one widget.
    public init(
      name: Identifier, subjectPrefix: Identifier, weight: Int? = nil, families: [String] = Kind.defaultFamilies,
      interestsPerWidget: ClosedRange<Int> = 1...2
    ) {
      self.name = name
      self.subjectPrefix = subjectPrefix
      self.weight = weight
      self.families = families
      self.interestsPerWidget = interestsPerWidget
    }

    /// The widget families of kinds that name none.
    public static let defaultFamilies = ["systemSmall", "systemMedium", "accessoryRectangular"]
  }

  /// The kinds of a fleet's template. More is a mistake: most often the subjects begin with an id.
  /// - Beyond: `rouse fleet` refuses the template.
  public static let kindsMax = 256
  /// The weights of a fleet's template. The bound keeps sums of weights far from overflow.
  /// - Beyond: `rouse fleet` refuses the template.
  public static let weightMax = 1_000_000

  /// The template for the flight events of the demo: up to three flights to follow, the home airport, the weather there.
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

  /// Creates a template that suits the events: `flights` if all three of its prefixes occur, otherwise one kind for each
  /// prefix, named after it.
  /// - Throws: `FleetError.subjects` if there are more than `kindsMax` prefixes.
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

  /// Returns the name of a kind for a prefix: `live-score/` gives `LiveScore`, an empty prefix `Subject`.
  static func kindName(of prefix: Identifier) -> Identifier {
    let words = prefix.text.split { !$0.isLetter && !$0.isNumber }
    if words.isEmpty { return "Subject" }
    return Identifier(words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined())
  }

  /// Checks that the template's names and numbers are allowed in registrations.
  /// - Parameter place: The place to name in an error: `--kinds`, or the path of the template file.
  /// - Throws: `FleetError.template` with the first mistake.
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
      for family in kind.families { try Self.validateName(Identifier(family), "a family of \(kind.name)", place) }
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

  private static func validateName(_ name: Identifier, _ what: String, _ place: String) throws(FleetError) {
    let bytes = name.utf8.count
    if bytes == 0 { throw .template(place: place, problem: "\(what) is empty") }
    if bytes > DomainBounds.nameBytesMax {
      throw .template(
        place: place, problem: "\(what) has \(bytes) bytes, expected at most \(DomainBounds.nameBytesMax)")
    }
  }
}
