import ArgumentParser
import Domain
import Policies

/// Prints the effective values of a policy.
struct PolicyExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Print every effective value and its source.",
    discussion: """
      A value stands in the document, comes from the budget profile, is built in, or follows from another value. \
      With --format json, each value is one line. Warnings go to standard error.

      EXAMPLE
        rouse policy explain policy.yaml --kind FlightStatus
      """)

  @Argument(help: "The policy, a YAML file.")
  var file: String
  @Option(help: "Only this kind.")
  var kind: Identifier?
  @OptionGroup var limits: ProfileOption
  @OptionGroup var output: FormatOption

  func run() throws {
    let document = try PolicyFile.document(file, profile: limits.profile)
    if let kind, document.policy.kind(named: kind) == nil {
      let known = document.policy.kinds.map(\.name.text).joined(separator: ", ")
      throw Failure("\(file): no kind \(kind); the kinds are \(known)")
    }
    let explanation = PolicyExplanation(document, kind: kind)
    for warning in document.warnings where kind.map({ Self.concerns(warning, $0) }) ?? true {
      Words.say("\(warning)")
    }
    switch output.format {
    case .text: try Output.print(explanation.text)
    case .json: try Output.print(data: explanation.jsonLines)
    }
  }

  /// Whether a problem is about a kind. A path puts names that are no plain words in brackets.
  private static func concerns(_ problem: PolicyProblem, _ kind: Identifier) -> Bool {
    ["kinds.\(kind).", "kinds[\(kind)]."].contains { Identifier(problem.path).hasPrefix($0) }
  }
}
