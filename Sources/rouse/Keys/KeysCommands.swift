import ArgumentParser
import Domain
import JSON
import Keys
import LineFiles

/// Makes a key of the HTTP gateway or of the console.
struct KeysCreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Make a key, and print it once.",
    discussion: """
      Prints the key on standard output. The file keeps only its SHA-256, so nobody can print the key again. A new file \
      is for its owner alone. A running gateway or console reads the file again within a second or two.

      A publisher may POST events: from sources that begin with one of --sources, of one of --types, and about \
      subjects that begin with one of --subjects. A registrar may PUT and DELETE devices, and POST their signals: \
      registrations must name one of --apps. A sender may POST the signals that say what became of a push, about \
      devices of --apps. Without such a list, anything is allowed. An auditor may ask the console questions. An \
      operator may also apply policies and replay dead letters.

      The newest event of a subject and type counts, whatever its source is. So a publisher that may send any type and \
      subject can replace the events of all others; bind each key to what its holder needs.

      EXAMPLE
        rouse keys create --role publisher --sources /flights --subjects flight/ --expires 90d --file keys.json
        rouse keys create --role registrar --apps com.example.glance --file keys.json
        rouse keys create --role sender --apps com.example.glance --file keys.json
        rouse keys create --role auditor --expires 30d --file keys.json
      """)

  @Option(help: "What the holder may do: \(KeyRole.allCases.map(\.rawValue).joined(separator: ", ")).")
  var role: KeyRole
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Prefixes of the sources that a publisher may use.", valueName: "prefix"))
  var sources: [String] = []
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Types of the events that a publisher may send.", valueName: "type"))
  var types: [String] = []
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Prefixes of the subjects that a publisher may send events about.", valueName: "prefix"))
  var subjects: [String] = []
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Apps whose devices a registrar may register, or a sender may report of.", valueName: "app"))
  var apps: [String] = []
  @Option(
    help: ArgumentHelp("Time after which the key stops working, such as 90d or 12h.", valueName: "time"),
    transform: { try Self.span($0) })
  var expires: TimeSpan?
  @Flag(help: "Do nothing if the file has a key of this role that works, so that a script can be run again.")
  var ifNone = false
  @OptionGroup var keyFile: KeyFileOption
  @OptionGroup var output: FormatOption

  /// The longest life of a key, in days.
  /// - Beyond: the command is refused.
  private static let daysMax: Int64 = 36_500

  func validate() throws {
    if role != .publisher, !sources.isEmpty || !types.isEmpty || !subjects.isEmpty {
      throw ValidationError("--sources, --types and --subjects go with --role publisher")
    }
    if !role.isBoundToApps, !apps.isEmpty { throw ValidationError("--apps goes with --role registrar or sender") }
  }

  func run() throws {
    var file = Files.exists(keyFile.file) ? try keyFile.read() : KeyFile()
    let now = KeyFileOption.now
    if ifNone, let key = file.keys.first(where: { $0.role == role && $0.isValid(at: now) }) {
      Words.say("\(keyFile.file) has the key \(key.id) of this role; none is made")
      return
    }
    let (key, secret) = AccessKey.make(
      role, sources: sources, types: types, subjects: subjects, apps: apps, created: now,
      expires: expires.map { now + $0 })
    file.keys.append(key)
    try file.write(to: keyFile.file)
    switch output.format {
    case .text: try Output.print(PrintableText(lines: secret + "\n"))
    case .json:
      var json = JSONWriter()
      key.encode(to: &json, secret: secret, at: now)
      try Output.print(json.bytes)
    }
    let article: PrintableText = role == .auditor || role == .operator ? "an" : "a"
    Words.say("key \(key.id) of \(article) \(role.rawValue), \(key.state(at: now)); it is shown this once")
  }

  /// Reads a time span such as `90d`.
  private static func span(_ text: String) throws -> TimeSpan {
    let units: [Character: Int64] = ["d": 86_400, "h": 3600, "m": 60]
    guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), count > 0,
      count <= daysMax * 86_400 / unit
    else {
      throw ValidationError("expected a number of days, hours or minutes up to \(daysMax) days, such as 90d, 12h, 30m")
    }
    return .seconds(count * unit)
  }
}

/// Lists the keys of the HTTP gateway and of the console.
struct KeysListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the keys, without their secrets.",
    discussion: """
      EXAMPLE
        rouse keys list --file keys.json
      """)

  @OptionGroup var keyFile: KeyFileOption
  @OptionGroup var output: FormatOption

  func run() throws {
    let (file, now) = (try keyFile.read(), KeyFileOption.now)
    switch output.format {
    case .text:
      if file.keys.isEmpty { Words.say("no keys; rouse keys create makes one") }
      for key in file.keys {
        let words = [key.id, key.role.rawValue, key.state(at: now), key.bounds].compactMap { $0 }
        try Output.print(PrintableText(escaping: words.joined(separator: "  ")) + "\n")
      }
    case .json:
      var json = JSONWriter()
      json.beginArray()
      for key in file.keys { key.encode(to: &json, at: now) }
      json.endArray()
      try Output.print(json.bytes)
    }
  }
}

/// Revokes a key of the HTTP gateway or of the console.
struct KeysRevokeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Revoke a key, so that it stops working.",
    discussion: """
      The key stays in the file, so that logs can still be understood. A running gateway or console refuses it within a second or two.

      EXAMPLE
        rouse keys revoke 5d0c7a1e93b2 --file keys.json
      """)

  @Argument(help: ArgumentHelp("The id of the key, as rouse keys list shows it.", valueName: "id"))
  var id: String
  @OptionGroup var keyFile: KeyFileOption

  func run() throws {
    var file = try keyFile.read()
    guard let index = file.keys.firstIndex(where: { Identifier($0.id) == Identifier(id) }) else {
      throw Failure("\(keyFile.file): there is no key \(id); rouse keys list shows the ids")
    }
    guard file.keys[index].revoked == nil else { return Words.say("key \(id) was revoked before") }
    file.keys[index].revoked = KeyFileOption.now
    try file.write(to: keyFile.file)
    Words.say("key \(id) is revoked")
  }
}
