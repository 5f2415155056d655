import ArgumentParser
import Policies

struct PolicyDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Print which effective values a new policy changes.",
    discussion: """
      Comments, order and spelling count for nothing. With --format json each change is one line. Exits 0 with and \
      without a difference.

      EXAMPLE
        rouse policy diff old.yaml new.yaml
      """)

  @Argument(help: "The policy that holds, a YAML file.")
  var old: String
  @Argument(help: "The policy that is to come, a YAML file.")
  var new: String
  @OptionGroup var output: FormatOption

  func run() throws {
    let difference = PolicyDifference(
      from: try PolicyFile.document(old).policy, to: try PolicyFile.document(new).policy)
    if difference.isEmpty { Words.say("no effective value differs") }
    try Output.print(output.format == .text ? difference.text : difference.jsonLines)
  }
}
