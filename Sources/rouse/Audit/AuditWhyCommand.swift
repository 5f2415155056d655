import ArgumentParser
import Auditing
import Domain

/// Explains the decisions about one event on one device.
struct AuditWhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Explain why a device did, or did not, reload.",
    discussion: """
      Without --event, the answer is about the last event with a decision, or the last one before --at.

      EXAMPLE
        rouse audit why device-0000001 --store audit.sqlite \\
          --kind FlightStatus --at 2013-07-04T12:00:00Z
      """)

  @Argument(help: "The id of the device.")
  var device: Identifier
  @Option(help: "Only this instance.")
  var instance: Identifier?
  @Option(help: "Only instances of this kind.")
  var kind: Identifier?
  @Option(help: "The event's id, without its source.")
  var event: Identifier?
  @Option(
    help: ArgumentHelp("Without --event: the moment in question, RFC 3339.", valueName: "time"), transform: Instant.read
  )
  var at: Timestamp?
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let answer = try audit.open().why(
      WhyQuestion(device: device, instance: instance, kind: kind, event: event, at: at))
    try audit.print(
      isKnown: !answer.stories.isEmpty, text: AuditText.render(answer), json: AuditJSON.render(answer))
  }
}
