import ArgumentParser
import Domain
import Policies

/// Compares the effective values of two policies.
struct PolicyDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Print the effective values that a new policy changes.",
    discussion: """
      Comments, order and spelling do not matter. With --format json, each change is one line. Exits 0 with and \
      without a difference.

      EXAMPLE
        rouse policy diff old.yaml new.yaml
      """)

  @Argument(help: "The policy in force, a YAML file.")
  var old: String
  @Argument(help: "The new policy, a YAML file.")
  var new: String
  @OptionGroup var output: FormatOption

  func run() throws {
    let difference = PolicyDifference(
      from: try PolicyFile.document(old).policy, to: try PolicyFile.document(new).policy)
    if difference.isEmpty { Words.say("no effective value differs") }
    switch output.format {
    case .text: try Output.print(difference.text)
    case .json: try Output.print(data: difference.jsonLines)
    }
  }
}
