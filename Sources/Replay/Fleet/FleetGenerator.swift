public import Domain
import JSON
public import LineFiles

/// How large a fleet, and which of the many possible ones.
public struct FleetOptions: Equatable, Sendable {
  public var devices: Int
  public var seed: UInt64
  /// What the widgets are; nil: what suits the events.
  public var template: FleetTemplate?

  public init(devices: Int, seed: UInt64, template: FleetTemplate? = nil) {
    self.devices = devices
    self.seed = seed
    self.template = template
  }

  /// More has no use on one machine, and the device numbers stay readable.
  public static let devicesMax = 100_000_000
}

/// Makes up registrations whose interests are real subjects. The same events, seed and template give the same bytes on
/// every machine, and each device is made on its own: a larger fleet begins with the devices of a smaller one.
public struct FleetGenerator: Sendable {
  public let options: FleetOptions
  public let template: FleetTemplate
  /// What each kind's widgets are drawn from, in the template's order.
  public let kinds: [KindShare]

  /// One kind's part of the fleet, for the summary.
  public struct KindShare: Equatable, Sendable {
    public let name: String
    /// Subjects that its widgets can be about.
    public let subjects: Int
    /// Expected part of all widgets, 0…1.
    public let share: Double
  }

  private let popularities: [FleetPopularity]
  private let choices: [(value: Int, weight: Int)]
  /// Devices registered before the first event, and widgets reload by themselves after it.
  private let firstEvent: Timestamp

  public init(subjects: FleetSubjects, options: FleetOptions) throws(FleetError) {
    guard (1...FleetOptions.devicesMax).contains(options.devices) else {
      throw .option(name: "--devices", problem: "found \(options.devices), expected 1 to \(FleetOptions.devicesMax)")
    }
    let template: FleetTemplate
    if let given = options.template { template = given } else { template = try FleetTemplate(suiting: subjects) }
    try template.validate(place: "the fleet's template")
    var popularities: [FleetPopularity] = []
    var weights: [Int] = []
    var counts: [Int] = []
    // Stream 0 orders the subjects; streams 1, 2, … are the devices'.
    var random = SeededRandom(seed: options.seed)
    for kind in template.kinds {
      let own = subjects.subjects(beginningWith: kind.subjectPrefix)
      if own.isEmpty { throw Self.nothing(for: kind, in: subjects) }
      popularities.append(FleetPopularity(own, random: &random))
      counts.append(own.count)
      weights.append(kind.weight ?? own.count)
    }
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

  /// Where no event has a time: 2026-01-01T00:00:00Z.
  private static let noTime = Timestamp(milliseconds: 1_767_225_600_000)

  private static func nothing(for kind: FleetTemplate.Kind, in subjects: FleetSubjects) -> FleetError {
    let prefixes = subjects.groups.prefix(8).map { $0.prefix.isEmpty ? "(no /)" : $0.prefix }.joined(separator: ", ")
    return .subjects(
      problem: "\(subjects.path): no subject begins with '\(kind.subjectPrefix)' (kind \(kind.name)); "
        + "the subjects begin with \(prefixes)")
  }

  /// The registration of the device with this index, from 0. Does not depend on `options.devices`.
  public func registration(at index: Int) -> Registration {
    precondition(index >= 0, "devices are counted from 0")
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

  /// Writes every device as one line of JSON. `progress` is told the devices written, now and then.
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

  /// `device-0000001`; more digits only where seven are too few.
  static func device(_ number: Int) -> String {
    let digits = String(number)
    return "device-" + String(repeating: "0", count: max(0, 7 - digits.count)) + digits
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

  /// WidgetKit tokens exist from OS 26 on; some people allow no pushes at all.
  private static func tokens(of osVersion: OSVersion, _ random: inout SeededRandom) -> Registration.Tokens {
    let (widgets, background) = (token(&random), token(&random))
    if random.chance(4, in: 100) { return Registration.Tokens() }
    if osVersion < OSVersion(major: 26) { return Registration.Tokens(background: background) }
    return Registration.Tokens(widgets: widgets, background: random.chance(90, in: 100) ? background : nil)
  }

  /// 64 hexadecimal digits, as APNs tokens have today.
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

// The mix of a fleet: made up, in parts of the sum. What matters is that every case that a planner tells apart occurs.
extension FleetGenerator {
  private static let widgetCounts: [(value: Int, weight: Int)] = [(1, 50), (2, 28), (3, 14), (4, 8)]

  private static let platforms: [(value: String, weight: Int)] = [("iOS", 87), ("iPadOS", 13)]

  private static let osVersions: [(value: OSVersion, weight: Int)] = [
    (OSVersion(major: 26, minor: 1), 48), (OSVersion(major: 26), 30), (OSVersion(major: 26, minor: 2), 4),
    (OSVersion(major: 18, minor: 7), 9), (OSVersion(major: 18, minor: 6), 4), (OSVersion(major: 18, minor: 3), 2),
    (OSVersion(major: 17, minor: 7), 3),
  ]

  private static let timeZones: [(value: String, weight: Int)] = [
    ("America/New_York", 340), ("America/Los_Angeles", 160), ("America/Chicago", 150), ("America/Denver", 50),
    ("America/Phoenix", 20), ("America/Puerto_Rico", 15), ("America/Anchorage", 5), ("Pacific/Honolulu", 10),
    ("America/Toronto", 30), ("America/Mexico_City", 20), ("America/Sao_Paulo", 15), ("Europe/London", 60),
    ("Europe/Berlin", 30), ("Europe/Paris", 25), ("Europe/Rome", 10), ("Asia/Tokyo", 20), ("Asia/Kolkata", 15),
    ("Asia/Shanghai", 10), ("Asia/Dubai", 5), ("Australia/Sydney", 10),
  ]
}
