import ArgumentParser

struct PolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy", abstract: "Check, explain, compare and apply policies.",
    discussion: """
      EXAMPLE
        rouse policy check policy.yaml
        rouse policy explain policy.yaml --kind FlightStatus
        rouse policy diff old.yaml new.yaml
        rouse policy profiles
      """,
    subcommands: [
      PolicyCheckCommand.self, PolicyApplyCommand.self, PolicyExplainCommand.self, PolicyDiffCommand.self,
      PolicyProfilesCommand.self,
    ])
}
