import ArgumentParser
import Domain
import Installation
import JSON
import KafkaClient
import Operating
import Pipeline

/// Compares the topics, or the broker, with what Rouse needs.
struct TopicsCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Compare the topics with what Rouse needs.",
    discussion: """
      Prints the differences and exits 1 when there are any. Topics with domain events only have to exist.

      The command also reads a sample of the compacted topics: it says how much a restore reads, and it is a difference \
      when the broker's cleaner does not keep up. That is so when the records older than an hour take more than three \
      times the bytes that can be alive, and four segments (segment.bytes).

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
    let cluster = try settings.connected()
    let admin = try KafkaAdmin(cluster.kafka)
    var problems = try plan.check(admin, events: cluster.eventTopics)
    var (topics, failure): ([CompactedTopic], KafkaError?) = ([], nil)
    do throws(KafkaError) {
      topics = try CompactionCheck(settings: cluster, state: .planner).run(admin)
    } catch {
      // The differences are printed first.
      failure = error
    }
    problems += topics.flatMap(\.problems)
    try show(problems, plan, cluster.eventTopics)
    for text in sizes(of: topics, cluster.topics) {
      if output.format == .text { try Output.print("\(text)\n") } else { Words.say("rouse: \(text)") }
    }
    advise(problems, cluster.eventTopics)
    if let failure { throw failure }
    if !problems.isEmpty { throw ExitCode(1) }
  }

  private func show(_ problems: [TopicProblem], _ plan: TopicPlan, _ eventTopics: [String]) throws {
    switch output.format {
    case .text:
      for problem in problems {
        try Output.print("\(problem.topic)  \(problem.what): expected \(problem.expected), found \(problem.found)\n")
      }
      if problems.isEmpty {
        let events = eventTopics.joined(separator: ", ")
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
  }

  /// Returns a sentence for each compacted topic: what it holds, and what a restore reads of it.
  private func sizes(of topics: [CompactedTopic], _ names: TopicNames) -> [PrintableText] {
    topics.flatMap { topic in
      var texts: [PrintableText] = []
      let all = size(topic.records, topic.bytes)
      if topic.topic == names.state {
        let living = topic.livingBytes.map { "; \(CompactedTopic.megabytes($0)) can be alive" } ?? ""
        texts.append("\(topic.topic)  a restore of all partitions reads about \(all)\(living)")
        if let largest = topic.parts.max(by: { $0.bytes < $1.bytes }), let partition = largest.partition,
          topic.parts.count > 1
        {
          texts.append(
            "\(topic.topic)  the largest is partition \(partition): about \(size(largest.records, largest.bytes))")
        }
      } else {
        texts.append("\(topic.topic)  holds about \(all)")
      }
      if !topic.unmeasured.isEmpty {
        let count = Digits.count(topic.unmeasured.count, "partition")
        texts.append("\(topic.topic)  \(count) not measured, because the time was over")
      }
      return texts
    }
  }

  private func size(_ records: Int64, _ bytes: Int64) -> String {
    "\(Digits.count(Int(records), "record")), \(CompactedTopic.megabytes(bytes))"
  }

  /// Says what to do about problems.
  private func advise(_ problems: [TopicProblem], _ eventTopics: [String]) {
    let missing = problems.filter { $0.sort == .missing }.map(\.topic)
    let others = problems.filter { $0.sort != .compaction }
    if others.contains(where: { !eventTopics.contains($0.topic) }) {
      Words.say("rouse: make missing topics with `rouse topics create`; change settings with your broker's tools")
    }
    if missing.contains(where: { eventTopics.contains($0) }) {
      Words.say(
        "rouse: topics with events belong to the data teams: make them with your broker's tools, or name others in topics.events"
      )
    }
    if problems.contains(where: { $0.sort == .partitions }) {
      Words.say(
        "rouse: partitions cannot be changed: set topics.partitions to what is found, or use a new topics.prefix")
    }
    if problems.contains(where: { $0.sort == .compaction }) {
      Words.say(
        "rouse: the broker's log cleaner does not keep up, so a restore reads more than it needs: check that the cleaner runs (log.cleaner.enable, and errors in log-cleaner.log of the partition's leader), give it more log.cleaner.threads, and lower min.cleanable.dirty.ratio, segment.ms or max.compaction.lag.ms of the topic"
      )
    }
  }

  /// Runs the checks of the broker and prints each as soon as it is done.
  private func conform(_ settings: ClusterSettings) throws {
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
