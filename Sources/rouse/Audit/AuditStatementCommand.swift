import ArgumentParser
import Auditing
import Domain

struct AuditStatementCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statement", abstract: "What a device was charged, like the statement of a bank account.",
    discussion: """
      EXAMPLE
        rouse audit statement device-0000001 --store audit.sqlite \\
          --utc-offset=-04:00
      """)

  @Argument(help: "The device.")
  var device: String
  @Option(
    help: ArgumentHelp("Whose days to count: east of UTC, such as +02:00 or -04:00.", valueName: "offset"),
    transform: Instant.readOffset)
  var utcOffset = TimeSpan.zero
  @OptionGroup var limit: LimitOption
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let statement = try audit.open().statement(
      device, range: time.range, utcOffset: utcOffset, limit: limit.limit)
    try audit.print(
      isKnown: statement.isKnown, text: AuditText.render(statement), json: try AuditJSON.render(statement))
  }
}
