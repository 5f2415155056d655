import ArgumentParser
import Auditing
import Domain

/// Shows the decisions about one event.
struct AuditEventCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "event", abstract: "Show the decisions about one event, over all devices.",
    discussion: """
      Decisions name an event by its id alone. If two publishers use the same id, the answer covers both of their \
      events. Make ids unique over all topics with events, for instance with the publisher's name in front.

      EXAMPLE
        rouse audit event nyc-2013-07-0000001 --store audit.sqlite
      """)

  @Argument(help: "The event's id, without its source.")
  var event: Identifier
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let effect = try audit.open().event(event)
    try audit.print(isKnown: effect.isKnown, text: AuditText.render(effect), json: AuditJSON.render(effect))
  }
}
