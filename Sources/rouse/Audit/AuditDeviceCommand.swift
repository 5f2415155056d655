import ArgumentParser
import Auditing
import Domain

/// Lists the decisions and commands of one device.
struct AuditDeviceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device", abstract: "List the latest decisions and commands of a device, oldest first.",
    discussion: """
      EXAMPLE
        rouse audit device device-0000001 --store audit.sqlite \\
          --from 2013-07-04T00:00:00Z --limit 20
      """)

  @Argument(help: "The id of the device.")
  var device: Identifier
  @OptionGroup var limit: LimitOption
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let timeline = try audit.open().device(device, range: time.range, limit: limit.limit)
    try audit.print(
      isKnown: timeline.isKnown, text: AuditText.render(timeline), json: AuditJSON.render(timeline))
    if timeline.isKnown, timeline.entries.isEmpty { Words.say("nothing in that time") }
  }
}
