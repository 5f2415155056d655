import ArgumentParser

/// The group of commands on Rouse's own topics.
struct TopicsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "topics", abstract: "Make and check the topics that Rouse works with, and print who may use them.",
    discussion: """
      EXAMPLE
        rouse topics create --bootstrap localhost:9092
        rouse topics check --bootstrap localhost:9092
        rouse topics acls --principal User:rouse
      """,
    subcommands: [TopicsCreateCommand.self, TopicsCheckCommand.self, TopicsACLsCommand.self])
}
