import ArgumentParser
import Policies

struct PolicyExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Print every value that holds, and where it comes from.",
    discussion: """
      A value is written in the document, comes from the budget profile, is built in, or follows from another one. \
      With --format json each value is one line. What deserves a second look goes to standard error.

      EXAMPLE
        rouse policy explain policy.yaml --kind FlightStatus
      """)

  @Argument(help: "The policy, a YAML file.")
  var file: String
  @Option(help: "Only this kind.")
  var kind: String?
  @OptionGroup var limits: ProfileOption
  @OptionGroup var output: FormatOption

  func run() throws {
    let document = try PolicyFile.document(file, profile: limits.profile)
    if let kind, document.policy.kind(named: kind) == nil {
      let known = document.policy.kinds.map(\.name).joined(separator: ", ")
      throw Failure("\(file): no kind \(kind); the kinds are \(known)")
    }
    let explanation = PolicyExplanation(document, kind: kind)
    for warning in document.warnings where kind.map({ Self.concerns(warning, $0) }) ?? true {
      Words.say("\(warning)")
    }
    try Output.print(output.format == .text ? explanation.text : explanation.jsonLines)
  }

  /// Names that are no plain words stand in brackets.
  private static func concerns(_ problem: PolicyProblem, _ kind: String) -> Bool {
    problem.path.hasPrefix("kinds.\(kind).") || problem.path.hasPrefix("kinds[\(kind)].")
  }
}
