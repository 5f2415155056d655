import ArgumentParser

/// The group of commands on Rouse's own topics.
struct TopicsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "topics", abstract: "Make and check the topics that Rouse works with.",
    discussion: """
      EXAMPLE
        rouse topics create --bootstrap localhost:9092
        rouse topics check --bootstrap localhost:9092
      """,
    subcommands: [TopicsCreateCommand.self, TopicsCheckCommand.self])
}
