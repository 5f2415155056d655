import ArgumentParser
import Auditing
import Domain

/// Lists the charges of one device.
struct AuditStatementCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statement", abstract: "List the charges of a device, like the statement of a bank account.",
    discussion: """
      EXAMPLE
        rouse audit statement device-0000001 --store audit.sqlite \\
          --utc-offset=-04:00
      """)

  @Argument(help: "The id of the device.")
  var device: Identifier
  @Option(
    help: ArgumentHelp(
      "The UTC offset of the days to count, such as =+02:00 or =-04:00, with the = before it.", valueName: "offset"),
    transform: Instant.readOffset)
  var utcOffset = TimeSpan.zero
  @OptionGroup var limit: LimitOption
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let statement = try audit.open().statement(
      device, range: time.range, utcOffset: utcOffset, limit: limit.limit)
    try audit.print(
      isKnown: statement.isKnown, text: AuditText.render(statement), json: AuditJSON.render(statement))
  }
}
