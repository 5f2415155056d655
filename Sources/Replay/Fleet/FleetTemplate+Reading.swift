import Domain
import JSON
import LineFiles

extension FleetTemplate {
  /// Reads the value of `--kinds`: `FlightStatus=flight/,AirportDelays=airport/`, or with a weight for every kind:
  /// `FlightStatus=flight/:90,AirportDelays=airport/:10`. A prefix may contain `:`; the text after the last one is the
  /// weight if it is a number.
  /// - Throws: `FleetError.template` with the first mistake.
  public init(kindsOption text: String) throws(FleetError) {
    var kinds: [Kind] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let equals = part.firstIndex(of: "="), equals > part.startIndex else {
        throw .template(place: "--kinds", problem: "found '\(part)', expected Kind=prefix/ or Kind=prefix/:weight")
      }
      var prefix = part[part.index(after: equals)...]
      var weight: Int?
      if let colon = prefix.lastIndex(of: ":"), let number = Int(prefix[prefix.index(after: colon)...]) {
        weight = number
        prefix = prefix[..<colon]
      }
      let name = Identifier(String(part[..<equals]))
      var kind = Self.flights.kinds.first { $0.name == name } ?? Kind(name: name, subjectPrefix: "")
      kind.subjectPrefix = Identifier(String(prefix))
      kind.weight = weight
      kinds.append(kind)
    }
    self.init(kinds: kinds)
    try validate(place: "--kinds")
  }

  /// Reads a template file (JSON):
  ///
  ///     {"app": "com.example.departures", "kinds": [{"kind": "FlightStatus", "subjectPrefix": "flight/",
  ///       "weight": 90, "families": ["systemSmall"], "interestsPerWidget": {"min": 1, "max": 3}}]}
  ///
  /// `app`, `weight`, `families` and `interestsPerWidget` may be left out. An unknown key is a mistake.
  /// - Parameter path: The path of the file; `-` for standard input.
  /// - Throws: `FleetError` if the file cannot be read or has a mistake.
  public init(path: String) throws(FleetError) {
    let bytes = try Self.contents(of: path)
    do throws(JSONError) {
      self = try JSONReader(bytesMax: Self.fileBytesMax).read(bytes) { root throws(JSONError) in
        try Self.template(root)
      }
    } catch {
      throw .template(place: path, problem: error.description)
    }
    try validate(place: path)
  }

  /// The bytes of a template file.
  /// - Beyond: `rouse fleet` refuses the template.
  private static let fileBytesMax = 1 << 20

  private static func contents(of path: String) throws(FleetError) -> [UInt8] {
    var bytes: [UInt8] = []
    do throws(LineFileError) {
      var reader = try LineReader(path: path, lineBytesMax: fileBytesMax)
      while let line = try reader.next() {
        bytes.append(contentsOf: line)
        bytes.append(UInt8(ascii: "\n"))
        // The JSON reader refuses a file of this size with a message, so the rest need not be read.
        if bytes.count > fileBytesMax { return bytes }
      }
    } catch {
      throw .file(error)
    }
    return bytes
  }

  private static func template(_ root: JSONNode) throws(JSONError) -> FleetTemplate {
    try refuseUnknown(root, ["app", "kinds"])
    var kinds: [Kind] = []
    for node in try root.member("kinds", "an array of kinds").array() { kinds.append(try kind(node)) }
    return FleetTemplate(
      app: try root.optional("app").map { (node) throws(JSONError) in Identifier(try node.string()) } ?? defaultApp,
      kinds: kinds)
  }

  private static func kind(_ node: JSONNode) throws(JSONError) -> Kind {
    try refuseUnknown(node, ["kind", "subjectPrefix", "weight", "families", "interestsPerWidget"])
    var kind = Kind(
      name: Identifier(try node.member("kind", "the kind's name").string()),
      subjectPrefix: Identifier(try node.member("subjectPrefix", "what the subjects begin with").string()))
    if let weight = node.optional("weight") { kind.weight = try int(weight) }
    if let families = node.optional("families") {
      kind.families = []
      for family in try families.array() { kind.families.append(try family.string()) }
    }
    if let interests = node.optional("interestsPerWidget") { kind.interestsPerWidget = try range(interests) }
    return kind
  }

  /// Reads a range: `2`, or `{"min": 1, "max": 3}`.
  private static func range(_ node: JSONNode) throws(JSONError) -> ClosedRange<Int> {
    if node.kind == .number {
      let count = try int(node)
      return count...count
    }
    try refuseUnknown(node, ["min", "max"])
    let low = try int(try node.member("min", "the fewest interests"))
    let high = try node.member("max", "the most interests")
    guard try int(high) >= low else { throw high.wrongValue("at least min, \(low)") }
    return low...(try int(high))
  }

  private static func int(_ node: JSONNode) throws(JSONError) -> Int {
    guard let value = Int(exactly: try node.integer()) else { throw node.wrongValue("a smaller number") }
    return value
  }

  private static func refuseUnknown(_ node: JSONNode, _ known: [String]) throws(JSONError) {
    for (key, value) in try node.object() where !known.contains(try key.string()) {
      throw JSONError(
        kind: .wrongValue, path: value.path, expected: "one of \(known.joined(separator: ", "))", found: "another key")
    }
  }
}
