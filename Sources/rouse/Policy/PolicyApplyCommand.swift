import ArgumentParser
import Domain
import KafkaClient
import Pipeline
import Policies

/// Puts a policy into force on a running installation.
struct PolicyApplyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apply", abstract: "Put a policy into force on a running installation.",
    discussion: """
      Checks the file and appends it to every partition of the log, with the profile that it names. Each planner \
      decides by it from that record on. Budgets that are spent stay spent; pending changes are decided by the new \
      policy. To go back, apply the old file.

      EXAMPLE
        rouse policy check policy.yaml
        rouse policy apply policy.yaml --bootstrap localhost:9092
      """)

  @Argument(help: "The policy, a YAML file, or - for standard input.")
  var file: String
  @OptionGroup var limits: ProfileOption
  @OptionGroup var settings: SettingsOptions

  func run() throws {
    let document = try PolicyFile.document(file, profile: limits.profile)
    for warning in document.warnings { Words.say("\(warning)") }
    try PolicyAppender(settings: settings.resolve().connected()).apply(document)
    try Output.print("\(document.policy.reference.version) \(document.policy.reference.hash)\n")
  }
}
