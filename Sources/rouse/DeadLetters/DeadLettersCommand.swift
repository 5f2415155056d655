import ArgumentParser

/// The group of commands on records that were not accepted.
struct DeadLettersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dead-letters", abstract: "Look at records that were not accepted, and give them back.",
    discussion: """
      EXAMPLE
        rouse dead-letters list --bootstrap localhost:9092
        rouse dead-letters show 'rouse.dead-letters[3]@17' \\
          --bootstrap localhost:9092
        rouse dead-letters replay --reason MISSING_FIELD
      """,
    subcommands: [
      DeadLettersListCommand.self, DeadLettersShowCommand.self, DeadLettersReplayCommand.self,
    ])
}
