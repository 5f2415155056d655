import ArgumentParser
import JSON
import KafkaClient
import Pipeline

struct TopicsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "topics", abstract: "Make and check the topics that Rouse works with.",
    subcommands: [Create.self, Check.self])

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make the topics that are missing, with explicit settings.",
      discussion: """
        Topics that exist are left as they are; `rouse topics check` tells how they differ. Topics with domain events \
        belong to the data teams and are not made.

        EXAMPLE
          rouse topics create --bootstrap localhost:9092 \\
            --set topics.partitions=12 --set topics.replicas=3
        """)

    @OptionGroup var settings: SettingsOptions

    func run() async throws {
      let settings = try await settings.resolve()
      let plan = try settings.topicPlan()
      let admin = try KafkaAdmin(try settings.connected().kafka)
      let outcomes = try plan.create(admin)
      for (topic, outcome) in zip(plan.topics, outcomes) {
        if let error = outcome.error {
          Words.say("\(outcome.name): \(error)")
        } else {
          let made = outcome.existed ? "exists" : "made, \(topic.partitions) partitions"
          try Output.print("\(outcome.name)  \(made)\n")
        }
      }
      if outcomes.contains(where: { $0.error != nil }) { throw Failure("not every topic could be made") }
    }
  }

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Compare the topics with what Rouse needs.",
      discussion: """
        Exits 1 when anything differs, and prints what. Topics with domain events only have to be there.

        With --conformance the broker is checked instead: with topics of its own under the prefix, which are deleted \
        afterwards, whether it isolates transactions, fences, keeps order and whatever else Rouse relies on.

        EXAMPLE
          rouse topics check --config rouse.yaml
          rouse topics check --conformance --bootstrap localhost:9092
        """)

    @Flag(help: "Check what the broker itself can do, instead of the topics.")
    var conformance = false

    @OptionGroup var settings: SettingsOptions
    @OptionGroup var output: FormatOption

    func run() async throws {
      let settings = try await settings.resolve()
      if conformance { return try conform(try settings.connected()) }
      let plan = try settings.topicPlan()
      let pipeline = try settings.connected()
      let problems = try plan.check(try KafkaAdmin(pipeline.kafka), events: pipeline.eventTopics)
      switch output.format {
      case .text:
        for problem in problems {
          try Output.print("\(problem.topic)  \(problem.what): expected \(problem.expected), found \(problem.found)\n")
        }
        if problems.isEmpty {
          let events = pipeline.eventTopics.joined(separator: ", ")
          try Output.print(
            "\(plan.topics.count) topics are as they should be, and those with events are there: \(events)\n")
        }
      case .json:
        var writer = JSONWriter()
        writer.beginArray()
        for problem in problems {
          writer.beginObject()
          for (key, value) in [
            ("topic", problem.topic), ("what", problem.what), ("expected", problem.expected), ("found", problem.found),
          ] {
            writer.key(key)
            writer.string(value)
          }
          writer.endObject()
        }
        writer.endArray()
        try Output.print(writer.bytes)
      }
      if !problems.isEmpty {
        let missing = problems.filter { $0.what == "topic" }.map(\.topic)
        if problems.contains(where: { !pipeline.eventTopics.contains($0.topic) }) {
          Words.say("rouse: make missing topics with `rouse topics create`; change settings with your broker's tools")
        }
        if missing.contains(where: { pipeline.eventTopics.contains($0) }) {
          Words.say(
            "rouse: topics with events are the data teams': make them with your broker's tools, or name others in topics.events"
          )
        }
        if problems.contains(where: { $0.what == "partitions" }) {
          Words.say(
            "rouse: partitions cannot be changed: set topics.partitions to what is found, or use a new topics.prefix")
        }
        throw ExitCode(1)
      }
    }

    private func conform(_ settings: PipelineSettings) throws {
      var failure: (any Error)?
      let findings = Conformance(settings: settings).run { finding in
        guard output.format == .text else { return }
        let detail = finding.detail.isEmpty ? "" : "\n    " + finding.detail
        do {
          try Output.print("\(finding.outcome.rawValue)  \(finding.name)\(detail)\n")
        } catch { failure = error }
      }
      if let failure { throw failure }
      if output.format == .json {
        var json = JSONWriter()
        json.beginArray()
        for finding in findings {
          json.beginObject()
          for (key, value) in [
            ("name", finding.name), ("outcome", finding.outcome.rawValue), ("detail", finding.detail),
          ] {
            json.key(key)
            json.string(value)
          }
          json.key("needed")
          json.bool(finding.isNeeded)
          json.endObject()
        }
        json.endArray()
        try Output.print(json.bytes)
      }
      let missing = findings.filter { $0.isNeeded && $0.outcome != .pass }.count
      if missing > 0 {
        Words.say("rouse: \(missing) of \(findings.count) checks that Rouse relies on did not pass on this broker")
        throw ExitCode(1)
      }
    }
  }
}
