import ArgumentParser
import Domain
import JSON
import KafkaClient
import Pipeline

/// Compares the topics, or the broker, with what Rouse needs.
struct TopicsCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Compare the topics with what Rouse needs.",
    discussion: """
      Prints the differences and exits 1 when there are any. Topics with domain events only have to exist.

      With --conformance, the command checks the broker instead of the topics: whether it isolates transactions, fences \
      old producers, keeps order and has all other properties that Rouse relies on. The check creates its own topics \
      under the prefix and deletes them afterwards.

      EXAMPLE
        rouse topics check --config rouse.yaml
        rouse topics check --conformance --bootstrap localhost:9092
      """)

  @Flag(help: "Check the broker itself instead of the topics.")
  var conformance = false

  @OptionGroup var settings: SettingsOptions
  @OptionGroup var output: FormatOption

  func run() throws {
    let settings = try settings.resolve()
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
        writer.member("topic", problem.topic)
        writer.member("what", problem.what)
        writer.member("expected", problem.expected)
        writer.member("found", problem.found)
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
          "rouse: topics with events belong to the data teams: make them with your broker's tools, or name others in topics.events"
        )
      }
      if problems.contains(where: { $0.what == "partitions" }) {
        Words.say(
          "rouse: partitions cannot be changed: set topics.partitions to what is found, or use a new topics.prefix")
      }
      throw ExitCode(1)
    }
  }

  /// Runs the checks of the broker and prints each as soon as it is done.
  private func conform(_ settings: PipelineSettings) throws {
    var failure: (any Error)?
    let findings = Conformance(settings: settings).run { finding in
      guard output.format == .text else { return }
      let detail: PrintableText = finding.detail.isEmpty ? "" : "\n    \(finding.detail)"
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
        json.member("name", finding.name)
        json.member("outcome", finding.outcome.rawValue)
        json.member("detail", finding.detail)
        json.member("needed", finding.isNeeded)
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
