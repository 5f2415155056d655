import ArgumentParser
import Domain
import Foundation
import KafkaClient
import Operating
import Policies

/// Puts a policy into force on a running installation.
struct PolicyApplyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apply", abstract: "Put a policy into force on a running installation.",
    discussion: """
      Checks the file and appends it to every partition of the log, with the profile that it names. Each planner \
      decides by it from that record on. Budgets that are spent stay spent; pending changes are decided by the new \
      policy. To go back, apply the old file. The record in the log says who applied it, and the history shows it.

      EXAMPLE
        rouse policy check policy.yaml
        rouse policy apply policy.yaml --bootstrap localhost:9092
      """)

  @Argument(help: "The policy, a YAML file, or - for standard input.")
  var file: String
  @OptionGroup var limits: ProfileOption
  @Option(help: ArgumentHelp("Who applies it; by default the user that runs this.", valueName: "name"))
  var by: String?
  @OptionGroup var settings: SettingsOptions

  /// The largest size of the name, in bytes of UTF-8.
  private static let nameBytesMax = 256

  func validate() throws {
    guard let by, by.isEmpty || by.utf8.count > Self.nameBytesMax else { return }
    throw ValidationError("--by takes 1 to \(Self.nameBytesMax) bytes, found \(by.utf8.count)")
  }

  func run() throws {
    let document = try PolicyFile.document(file, profile: limits.profile)
    for warning in document.warnings { Words.say("\(warning)") }
    try PolicyAppender(settings: settings.resolve().connected()).apply(document, by: by ?? NSUserName())
    try Output.print("\(document.policy.reference.version) \(document.policy.reference.hash)\n")
  }
}
