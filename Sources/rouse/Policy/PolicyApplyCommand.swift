import ArgumentParser
import Domain
import KafkaClient
import Pipeline
import Policies

struct PolicyApplyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apply", abstract: "Put a policy into force on a running installation.",
    discussion: """
      Checks the file, then appends it, with the profile that it names, to every partition of the log. Each planner decides by it from that record on; \
      what was spent stays spent, what waits is weighed by the new policy. To go back, apply the old file.

      EXAMPLE
        rouse policy check policy.yaml
        rouse policy apply policy.yaml --bootstrap localhost:9092
      """)

  @Argument(help: "The policy, a YAML file, or - for standard input.")
  var file: String
  @OptionGroup var limits: ProfileOption
  @OptionGroup var settings: SettingsOptions

  func run() async throws {
    let document = try PolicyFile.document(file, profile: limits.profile)
    for warning in document.warnings { Words.say("\(warning)") }
    try PolicyAppender(settings: try await settings.resolve().connected()).apply(document: document.text)
    try Output.print("\(document.policy.reference.version) \(document.policy.reference.hash)\n")
  }
}
