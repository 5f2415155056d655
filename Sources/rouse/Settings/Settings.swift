import ArgumentParser
import Configuration
import Domain
import Foundation
import KafkaClient
import Logging
import Pipeline
import SystemPackage
import Yams

/// The options that every command with a broker shares.
struct SettingsOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The settings file, YAML.", valueName: "file"))
  var config: String?
  @Option(
    name: .customLong("set"), help: ArgumentHelp("Sets one value over file and environment.", valueName: "key=value"))
  var assignments: [String] = []
  @Option(help: ArgumentHelp("Short for --set kafka.bootstrapServers=…", valueName: "host:port"))
  var bootstrap: String?

  func resolve() async throws -> Settings { try await Settings(self) }
}

/// Every setting with its value and where the value came from: flag over environment over file over default.
struct Settings {
  struct Value {
    var key: SettingKey
    var content: ConfigContent?
    /// `flag`, `environment ROUSE_…`, `file rouse.yaml` or `default`.
    var origin: String
  }

  private(set) var values: [Value] = []

  init(_ options: SettingsOptions) async throws {
    var flags: [AbsoluteConfigKey: ConfigValue] = [:]
    var assignments = options.assignments
    if let bootstrap = options.bootstrap { assignments.append("kafka.bootstrapServers=\(bootstrap)") }
    for assignment in assignments {
      let (key, value) = try Self.parse(assignment: assignment)
      flags[AbsoluteConfigKey(key.components)] = ConfigValue(value, isSecret: false)
    }
    let environment = EnvironmentVariablesProvider().prefixKeys(with: "rouse")
    try Self.checkEnvironment(ProcessInfo.processInfo.environment)
    var file: FileProvider<YAMLSnapshot>?
    if let path = options.config {
      try Self.checkFile(path)
      do {
        file = try await FileProvider<YAMLSnapshot>(filePath: FilePath(path))
      } catch {
        throw Failure("\(path): cannot be read as settings: \(error)")
      }
    }
    for key in SettingKey.all {
      let absolute = AbsoluteConfigKey(key.components)
      if let value = flags[absolute] {
        values.append(Value(key: key, content: value.content, origin: "flag"))
      } else if let value = try Self.look(environment, absolute, key, "environment \(key.environmentName)") {
        values.append(Value(key: key, content: value, origin: "environment \(key.environmentName)"))
      } else if let file, let value = try Self.look(file, absolute, key, "file \(options.config ?? "")") {
        values.append(Value(key: key, content: value, origin: "file \(options.config ?? "")"))
      } else {
        let content = try key.fallback.map { try Self.content($0, key, "the default") }
        values.append(Value(key: key, content: content, origin: "default"))
      }
    }
  }

  // MARK: Reading

  private static func look(
    _ provider: some ConfigProvider, _ absolute: AbsoluteConfigKey, _ key: SettingKey, _ origin: String
  ) throws -> ConfigContent? {
    do {
      return try provider.value(forKey: absolute, type: key.type).value?.content
    } catch {
      throw Failure("\(origin): \(key.name): expected \(words(key.type)); \(key.help)")
    }
  }

  private static func parse(assignment: String) throws -> (SettingKey, ConfigContent) {
    guard let equals = assignment.firstIndex(of: "=") else {
      throw ValidationError("--set \(assignment): expected key=value")
    }
    let name = String(assignment[..<equals])
    guard let key = SettingKey.named(name) else { throw ValidationError(unknown(name)) }
    return (key, try content(String(assignment[assignment.index(after: equals)...]), key, "--set"))
  }

  private static func content(_ text: String, _ key: SettingKey, _ origin: String) throws -> ConfigContent {
    switch key.type {
    case .int:
      guard let number = Int(text) else {
        throw ValidationError("\(origin): \(key.name): expected a whole number, found '\(text)'; \(key.help)")
      }
      return .int(number)
    case .stringArray:
      return .stringArray(text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
    default: return .string(text)
    }
  }

  private static func words(_ type: ConfigType) -> String {
    switch type {
    case .int: "a whole number"
    case .stringArray: "a list of texts"
    default: "a text"
    }
  }

  static func unknown(_ name: String, known: [String] = SettingKey.all.map(\.name)) -> String {
    let near = NearestName.of(name, among: known).map { " did you mean \($0)?" } ?? ""
    return "\(name): unknown setting;\(near) known: \(known.joined(separator: ", "))"
  }

  /// swift-configuration passes over keys that nobody asks for; a misspelt one must not go unnoticed.
  private static func checkFile(_ path: String) throws {
    let text: String
    guard Files.exists(path) else { throw Failure("\(path): there is no such file; name another with --config") }
    do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
      throw Failure("\(path): cannot be read as UTF-8 text; name another with --config")
    }
    let root: Node?
    do { root = try Yams.compose(yaml: text) } catch {
      throw Failure("\(path): not YAML: \(error)")
    }
    guard let root else { return }
    try check(root, path: path, prefix: [])
  }

  private static func check(_ node: Node, path: String, prefix: [String]) throws {
    guard let mapping = node.mapping else {
      let mark = node.mark
      throw Failure("\(path):\(mark?.line ?? 1):\(mark?.column ?? 1): expected a mapping of settings")
    }
    for (keyNode, value) in mapping {
      let name = (prefix + [keyNode.string ?? "?"]).joined(separator: ".")
      if SettingKey.named(name) != nil { continue }
      guard SettingKey.all.contains(where: { $0.name.hasPrefix(name + ".") }) else {
        throw Failure("\(path):\(keyNode.mark?.line ?? 1):\(keyNode.mark?.column ?? 1): \(unknown(name))")
      }
      try check(value, path: path, prefix: prefix + [keyNode.string ?? "?"])
    }
  }

  private static func checkEnvironment(_ environment: [String: String]) throws {
    let known = SettingKey.all.map(\.environmentName)
    // ROUSE_TEST_… belongs to the tests of the program.
    for name in environment.keys.sorted() where name.hasPrefix("ROUSE_") && !name.hasPrefix("ROUSE_TEST_") {
      guard known.contains(name) else {
        throw Failure("environment " + unknown(name, known: known.sorted()))
      }
    }
  }

  // MARK: Asking

  private func content(_ name: String) -> ConfigContent? { values.first { $0.key.name == name }?.content }

  func text(_ name: String) -> String? {
    guard case .string(let text) = content(name), !text.isEmpty else { return nil }
    return text
  }

  func list(_ name: String) -> [String] {
    guard case .stringArray(let list) = content(name) else { return [] }
    return list
  }

  /// A value that cannot be: wrong use when it was given as a flag, a failure when a file or the environment holds it.
  private func refusal(_ name: String, _ text: String) -> any Error {
    values.first { $0.key.name == name }?.origin == "flag" ? ValidationError(text) : Failure(text)
  }

  /// - Throws: when it is outside the range.
  func number(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
    guard case .int(let number) = content(name) else { return nil }
    guard range.contains(number) else {
      throw refusal(name, "\(name): \(number) is not possible; expected \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func choice<Choice: RawRepresentable & CaseIterable>(_ name: String, of type: Choice.Type) throws -> Choice
  where Choice.RawValue == String {
    let text = text(name) ?? ""
    guard let choice = Choice(rawValue: text) else {
      let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw refusal(name, "\(name): '\(text)' is not possible; expected one of \(known)")
    }
    return choice
  }

  /// A line per setting: key, value, where it came from. Secrets are not shown.
  func report() -> String {
    let width = (SettingKey.all.map(\.name.count).max() ?? 0) + 2
    return values.map { value in
      value.key.name.padding(toLength: width, withPad: " ", startingAt: 0) + shown(value) + "  (" + value.origin + ")"
    }.joined(separator: "\n") + "\n"
  }

  private func shown(_ value: Value) -> String {
    switch value.content {
    case .string(let text): text
    case .int(let number): String(number)
    case .stringArray(let list) where list.isEmpty: "-"
    case .stringArray(let list) where value.key.name == "kafka.properties":
      list.map { property in
        let name = property.prefix { $0 != "=" }
        return KafkaConfiguration.isSecret(String(name)) ? "\(name)=[secret]" : property
      }.joined(separator: ", ")
    case .stringArray(let list): list.joined(separator: ", ")
    // As the help says: the host name, one per core, the broker's default.
    default: "-"
    }
  }
}

extension Settings {
  /// What the pipeline needs to know.
  func pipeline() throws -> PipelineSettings {
    var kafka = KafkaConfiguration([("bootstrap.servers", text("kafka.bootstrapServers") ?? "")])
    for property in list("kafka.properties") {
      guard let equals = property.firstIndex(of: "="), equals != property.startIndex else {
        throw Failure("kafka.properties: expected name=value, found '\(property.prefix(40))'")
      }
      kafka[String(property[..<equals])] = String(property[property.index(after: equals)...])
    }
    let events = list("topics.events")
    guard !events.isEmpty else { throw Failure("topics.events: name at least one topic with domain events") }
    var settings = PipelineSettings(
      kafka: kafka, topics: TopicNames(prefix: text("topics.prefix") ?? ""), eventTopics: events,
      group: text("group") ?? "rouse", instance: text("instance") ?? ProcessInfo.processInfo.hostName,
      timestamps: try choice("timestamps", of: PipelineSettings.Timestamps.self))
    if let own = events.first(where: { settings.topics.all.contains($0) }) {
      throw Failure("topics.events: \(own) is one of Rouse's own topics")
    }
    settings.intake.duplicateWindow = try number("intake.duplicateWindow", 1...50_000_000) ?? 500_000
    settings.planner.commitInterval = .milliseconds(try number("planner.commitIntervalMilliseconds", 1...60_000) ?? 100)
    settings.planner.transactionTimeout = .milliseconds(
      try number("planner.transactionTimeoutMilliseconds", 1000...900_000) ?? 15_000)
    settings.intake.plannerLagMax = Int64(try number("intake.plannerLagMax", 0...Int(Int32.max)) ?? 1_000_000)
    settings.planner.snapshotFolder = text("planner.snapshotFolder")
    settings.planner.snapshotInterval = .seconds(try number("planner.snapshotIntervalSeconds", 1...86_400) ?? 300)
    settings.planner.isStaticMember = try choice("planner.membership", of: Membership.self) == .static
    return settings
  }

  /// How planner threads belong to their consumer group.
  private enum Membership: String, CaseIterable { case dynamic, `static` }

  func roles() throws -> Set<Role> {
    let roles = try list("roles").map { name in
      guard let role = Role(rawValue: name) else {
        throw refusal("roles", "roles: '\(name)' is not possible; expected some of intake, planner, audit")
      }
      return role
    }
    guard !roles.isEmpty else { throw Failure("roles: name at least one of intake, planner, audit") }
    return Set(roles)
  }

  func topicPlan() throws -> TopicPlan {
    let pipeline = try pipeline()
    return TopicPlan.make(
      pipeline.topics, partitions: try number("topics.partitions", 1...10_000) ?? 12,
      replicas: try number("topics.replicas", 1...100), replayTimestamps: pipeline.timestamps == .event)
  }

  func logger() throws -> Logger {
    guard let level = Logger.Level(rawValue: text("log.level") ?? "") else {
      let known = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure("log.level: '\(text("log.level") ?? "")' is not possible; expected one of \(known)")
    }
    var logger = Logger(label: "rouse") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = level
    return logger
  }
}
