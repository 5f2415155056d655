public import Domain
import JSON
public import LineFiles

/// Generates registrations whose interests are subjects of real events.
///
/// The same events, seed and template give the same bytes on every machine. Each device has a separate stream of random
/// numbers, so a larger fleet begins with the devices of a smaller one.
public struct FleetGenerator: Sendable {
  /// The size of the fleet and its seed.
  public let options: FleetOptions
  /// The template in use: the one of the options, or the one that suits the events.
  public let template: FleetTemplate
  /// The part of each kind in the fleet, in the order of the template.
  public let kinds: [KindShare]

  /// The part of one kind in the fleet, for the summary.
  public struct KindShare: Equatable, Sendable {
    /// The name of the kind.
    public let name: Identifier
    /// The number of subjects that widgets of the kind can show.
    public let subjects: Int
    /// The expected share of the kind in all widgets, 0…1.
    public let share: Double
  }

  private let popularities: [FleetPopularity]
  private let choices: [(value: Int, weight: Int)]
  /// The time of the first event. Devices register before it, and scheduled reloads come after it.
  private let firstEvent: Timestamp

  /// Prepares a fleet.
  /// - Parameters:
  ///   - subjects: The subjects of the events.
  ///   - options: The size of the fleet, its seed and its template.
  /// - Throws: `FleetError` if the number of devices or the template is out of bounds, or a kind has no subjects.
  public init(subjects: FleetSubjects, options: FleetOptions) throws(FleetError) {
    guard (1...FleetOptions.devicesMax).contains(options.devices) else {
      throw .option(name: "--devices", problem: "found \(options.devices), expected 1 to \(FleetOptions.devicesMax)")
    }
    let template: FleetTemplate
    if let given = options.template { template = given } else { template = try FleetTemplate(suiting: subjects) }
    try template.validate(place: "the fleet's template")
    var popularities: [FleetPopularity] = []
    var counts: [Int] = []
    // Stream 0 orders the subjects. Device n draws from stream n.
    var random = SeededRandom(seed: options.seed)
    for kind in template.kinds {
      let own = subjects.subjects(beginningWith: kind.subjectPrefix)
      if own.isEmpty { throw Self.nothing(for: kind, in: subjects) }
      popularities.append(FleetPopularity(own, random: &random))
      counts.append(own.count)
    }
    let given = template.kinds.compactMap(\.weight)
    let weights = given.isEmpty ? Self.weights(subjects: counts) : given
    let total = weights.reduce(0, +)
    self.options = options
    self.template = template
    self.popularities = popularities
    choices = weights.enumerated().map { ($0, $1) }
    kinds = template.kinds.indices.map {
      KindShare(name: template.kinds[$0].name, subjects: counts[$0], share: Double(weights[$0]) / Double(total))
    }
    firstEvent = subjects.firstTime ?? Self.noTime
  }

  /// Returns the weights of kinds whose template names none: in proportion to their subjects, but at least `leastShare` of
  /// the widgets for each, or equal shares if there are too many kinds for that. Otherwise three airports beside thousands
  /// of flights would hardly occur.
  /// - Parameter counts: The number of subjects of each kind, at least 1.
  static func weights(subjects counts: [Int]) -> [Int] {
    if counts.count >= leastShare { return counts.map { _ in 1 } }
    var weights = counts
    var small: Set<Int> = []
    while true {
      let rest = counts.indices.reduce(0) { small.contains($1) ? $0 : $0 + counts[$1] }
      // x of rest + m · x is a tenth for x = rest / (10 − m).
      let parts = leastShare - small.count
      for kind in small { weights[kind] = (rest + parts - 1) / parts }
      let total = weights.reduce(0, +)
      let smaller = weights.indices.filter { !small.contains($0) && weights[$0] * leastShare < total }
      if smaller.isEmpty { return weights }
      small.formUnion(smaller)
    }
  }

  /// The denominator of the least share of a kind: at least one widget in this many is of the kind.
  private static let leastShare = 10

  /// The assumed time of the first event if no event has a time: 2026-01-01T00:00:00Z.
  private static let noTime = Timestamp(milliseconds: 1_767_225_600_000)

  private static func nothing(for kind: FleetTemplate.Kind, in subjects: FleetSubjects) -> FleetError {
    let prefixes = subjects.groups.prefix(8).map { $0.prefix.isEmpty ? "(no /)" : $0.prefix.text }.joined(
      separator: ", ")
    return .subjects(
      problem: "\(subjects.path): no subject begins with '\(kind.subjectPrefix)' (kind \(kind.name)); "
        + "the subjects begin with \(prefixes)")
  }

  /// Returns the registration of one device. It does not depend on the size of the fleet.
  /// - Parameter index: The index of the device, from 0.
  public func registration(at index: Int) -> Registration {
    precondition(index >= 0, "the index of a device must not be negative")
    var random = SeededRandom(seed: options.seed, stream: UInt64(index) + 1)
    let platform = random.pick(Self.platforms)
    let osVersion = random.pick(Self.osVersions)
    let developerMode = random.chance(2, in: 1000)
    let environment: Registration.Environment = developerMode || random.chance(5, in: 1000) ? .sandbox : .production
    let timeZone = random.pick(Self.timeZones)
    let tokens = Self.tokens(of: osVersion, &random)
    let updatedAt = firstEvent - .seconds(Int64(1 + random.below(30 * 86_400)))
    let widgets = (1...random.pick(Self.widgetCounts)).map { widget($0, &random) }
    return Registration(
      device: Self.device(index + 1), app: template.app, environment: environment, platform: platform,
      osVersion: osVersion, timeZone: timeZone, developerMode: developerMode, tokens: tokens, widgets: widgets,
      updatedAt: updatedAt)
  }

  /// Writes every device as one line of JSON.
  /// - Parameters:
  ///   - writer: The file; stays open.
  ///   - progress: Receives the number of devices written so far, about every 16,000 devices.
  /// - Throws: `LineFileError` if the file cannot be written.
  public func write(
    to writer: inout LineWriter, progress: (_ devices: Int) -> Void = { _ in }
  ) throws(LineFileError) {
    var json = JSONWriter(reserving: 4096)
    for index in 0..<options.devices {
      json.reset()
      registration(at: index).encode(to: &json)
      try writer.append(json.bytes)
      try writer.endLine()
      if index % 16_384 == 0 { progress(index) }
    }
    progress(options.devices)
  }

  /// Returns the id of a device: `device-0000001`, with more digits for numbers of eight digits and more.
  static func device(_ number: Int) -> Identifier {
    let digits = String(number)
    return "device-\(String(repeating: "0", count: max(0, 7 - digits.count)))\(digits)"
  }

  private func widget(_ number: Int, _ random: inout SeededRandom) -> Registration.Widget {
    let index = random.pick(choices)
    let kind = template.kinds[index]
    let range = kind.interestsPerWidget
    let interests = popularities[index].draw(range.lowerBound + random.below(range.count), &random)
    let pushEnabled = !random.chance(7, in: 100)
    let reloadsItself = random.chance(10, in: 100)
    let nextReload = firstEvent + .seconds(Int64(random.below(86_400)))
    return Registration.Widget(
      id: "w\(number)", kind: kind.name, family: kind.families[random.below(kind.families.count)],
      pushEnabled: pushEnabled, interests: interests, nextReload: reloadsItself ? nextReload : nil)
  }

  /// Draws the tokens of a device. Widget push tokens exist from OS 26 on, and some people allow no pushes at all.
  private static func tokens(of osVersion: OSVersion, _ random: inout SeededRandom) -> Registration.Tokens {
    let (widgets, background) = (token(&random), token(&random))
    if random.chance(4, in: 100) { return Registration.Tokens() }
    if osVersion < OSVersion(major: 26) { return Registration.Tokens(background: background) }
    return Registration.Tokens(widgets: widgets, background: random.chance(90, in: 100) ? background : nil)
  }

  /// Draws a token of 64 hexadecimal digits, the length of APNs tokens today.
  private static func token(_ random: inout SeededRandom) -> String {
    var digits: [UInt8] = []
    digits.reserveCapacity(64)
    for _ in 0..<4 {
      var bits = random.next()
      for _ in 0..<16 {
        let digit = UInt8(truncatingIfNeeded: bits & 15)
        digits.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        bits >>= 4
      }
    }
    return String(decoding: digits, as: UTF8.self)
  }
}

/// The size of a synthetic fleet, and its seed.
public struct FleetOptions: Equatable, Sendable {
  /// The number of devices, 1 to `devicesMax`.
  public var devices: Int
  /// The seed of all random choices.
  public var seed: UInt64
  /// The kinds and subjects of the widgets; nil chooses a template that suits the events.
  public var template: FleetTemplate?

  /// Creates options.
  /// - Parameters:
  ///   - devices: The number of devices, 1 to `devicesMax`.
  ///   - seed: The seed of all random choices.
  ///   - template: The kinds and subjects of the widgets; nil chooses a template that suits the events.
  public init(devices: Int, seed: UInt64, template: FleetTemplate? = nil) {
    self.devices = devices
    self.seed = seed
    self.template = template
  }

  /// The devices of a synthetic fleet. The bound keeps files usable on one machine and device ids readable.
  /// - Beyond: `rouse fleet` refuses the option.
  public static let devicesMax = 100_000_000
}

/// The mix of a synthetic fleet. The numbers are invented weights, chosen so that every case occurs that a planner treats
/// differently.
extension FleetGenerator {
  /// The numbers of widgets that devices have, each with its weight.
  static let widgetCounts: [(value: Int, weight: Int)] = [(1, 50), (2, 28), (3, 14), (4, 8)]

  /// The platforms of devices, each with its weight.
  static let platforms: [(value: String, weight: Int)] = [("iOS", 87), ("iPadOS", 13)]

  /// The OS versions of devices, each with its weight. Versions before 26 have no widget pushes.
  static let osVersions: [(value: OSVersion, weight: Int)] = [
    (OSVersion(major: 26, minor: 1), 48), (OSVersion(major: 26), 30), (OSVersion(major: 26, minor: 2), 4),
    (OSVersion(major: 18, minor: 7), 9), (OSVersion(major: 18, minor: 6), 4), (OSVersion(major: 18, minor: 3), 2),
    (OSVersion(major: 17, minor: 7), 3),
  ]

  /// The time zones of devices, each with its weight.
  static let timeZones: [(value: String, weight: Int)] = [
    ("America/New_York", 340), ("America/Los_Angeles", 160), ("America/Chicago", 150), ("America/Denver", 50),
    ("America/Phoenix", 20), ("America/Puerto_Rico", 15), ("America/Anchorage", 5), ("Pacific/Honolulu", 10),
    ("America/Toronto", 30), ("America/Mexico_City", 20), ("America/Sao_Paulo", 15), ("Europe/London", 60),
    ("Europe/Berlin", 30), ("Europe/Paris", 25), ("Europe/Rome", 10), ("Asia/Tokyo", 20), ("Asia/Kolkata", 15),
    ("Asia/Shanghai", 10), ("Asia/Dubai", 5), ("Australia/Sydney", 10),
  ]
}
