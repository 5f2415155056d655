import ArgumentParser
import Domain
import Installation
import KafkaClient

/// Makes the topics that are missing.
struct TopicsCreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Make the topics that are missing, with explicit settings.",
    discussion: """
      Topics that exist are left as they are; `rouse topics check` shows how they differ. Topics with domain events \
      belong to the data teams and are not made.

      EXAMPLE
        rouse topics create --bootstrap localhost:9092 \\
          --set topics.partitions=12 --set topics.replicas=3
      """)

  @OptionGroup var settings: SettingsOptions

  func run() throws {
    let settings = try settings.resolve()
    let plan = try settings.topicPlan()
    let admin = try KafkaAdmin(try settings.connected().kafka)
    let outcomes = try plan.create(admin)
    for (topic, outcome) in zip(plan.topics, outcomes) {
      if let error = outcome.error {
        Words.say("\(outcome.name): \(error)")
      } else {
        let made = outcome.existed ? "exists" : "made, \(Digits.count(topic.partitions, "partition"))"
        try Output.print("\(outcome.name)  \(made)\n")
      }
    }
    if outcomes.contains(where: { $0.error != nil }) { throw Failure("not every topic could be made") }
  }
}
