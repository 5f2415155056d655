import ArgumentParser
import Domain
import Installation
import JSON
import KafkaClient
import Operating
import Pipeline

/// Orders the readers of a partition to pass over records that stop them.
struct SkipCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "skip", abstract: "Pass over records that stop the readers of a partition.",
    discussion: """
      A batch that cannot be unpacked stops the readers of its partition, and so does a record of the log or of the \
      state that no release wrote. A critical line of the log names the place. This command finds the end of the batch, says how many \
      records will be passed over, and orders it: the processes that are stopped there go on behind it within \
      seconds. They need no restart.

      The records are lost to Rouse. Ask who wrote them to publish them again. An upgrade reads log records of a newer \
      release, and more memory (receive.message.max.bytes) reads a batch that is only large: try these first.

      A record of the state that cannot be read stops the planner of its partition. The order leaves it out, and the \
      command says what the planner has to go on without.

      Works for the topics that events, devices and signals come from, and for Rouse's log, state, decisions and \
      commands. The order holds for this place only, and for as long as the broker keeps the offsets of an idle group: a week \
      by default.

      EXAMPLE
        rouse skip 'flights[0]@4711' --dry-run --config rouse.yaml
        rouse skip 'flights[0]@4711' --config rouse.yaml
      """)

  @Argument(help: ArgumentHelp("The place, as the critical line names it.", valueName: "topic[partition]@offset"))
  var place: String
  @Flag(help: "Only say what would be passed over.")
  var dryRun = false
  @OptionGroup var settings: SettingsOptions
  @OptionGroup var output: FormatOption

  func run() throws {
    let place = try LetterPlace.parse(place, source: "the log of rouse run names it")
    let skips = Skips(settings: try settings.resolve().connected(), state: .planner)
    let skip = try skips.find(at: place)
    if !dryRun { try skips.give(skip) }
    try tell(skip)
  }

  private func tell(_ skip: Skip) throws {
    let count = skip.next - skip.first.offset
    switch output.format {
    case .text:
      let records = Digits.count(Int(count), "record")
      let what = dryRun ? "would be passed over" : "will be passed over"
      if let loss = skip.loss {
        let what = dryRun ? "would be" : "will be"
        return try Output.print("\(skip.first)  \(loss) \(what) left out\n")
      }
      try Output.print("\(skip.first)  \(records) \(what); reading continues at offset \(skip.next)\n")
    case .json:
      var json = JSONWriter()
      json.beginObject()
      json.member("topic", skip.first.partition.topic)
      json.member("partition", skip.first.partition.partition)
      json.member("offset", skip.first.offset)
      json.member("records", count)
      json.member("next", skip.next)
      if let loss = skip.loss { json.member("leavesOut", loss) }
      json.member("ordered", !dryRun)
      json.endObject()
      try Output.print(json.bytes)
    }
  }
}
