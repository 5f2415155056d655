import ArgumentParser
import Foundation

/// The options that every command with a broker shares.
struct SettingsOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The settings file, YAML.", valueName: "file"))
  var config: String?
  @Option(
    name: .customLong("set"), help: ArgumentHelp("Sets one value over file and environment.", valueName: "key=value"))
  var assignments: [String] = []
  @Option(help: ArgumentHelp("Short for --set kafka.bootstrapServers=…", valueName: "host:port"))
  var bootstrap: String?

  /// Reads the settings file and the environment.
  /// - Throws: `ValidationError` for a wrong option, ``Failure`` for a wrong file or environment.
  func resolve() throws -> Settings {
    var assignments = assignments
    if let bootstrap { assignments.append("\(SettingKey.bootstrapServers.rawValue)=\(bootstrap)") }
    return try Settings(
      assignments: assignments, environment: ProcessInfo.processInfo.environment,
      file: try config.map { try SettingsFile(path: $0) })
  }
}
