import ArgumentParser
import Auditing

struct AuditEventCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "event", abstract: "What one event did, over all devices.",
    discussion: """
      Decisions name an event by its id alone. Where two publishers use the same id, the answer is about both of their \
      events: let ids be unique over all topics with events, for instance with the publisher's name in front.

      EXAMPLE
        rouse audit event nyc-2013-07-0000001 --store audit.sqlite
      """)

  @Argument(help: "The event's id, without its source.")
  var event: String
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let effect = try audit.open().event(event)
    try audit.print(isKnown: effect.isKnown, text: AuditText.render(effect), json: try AuditJSON.render(effect))
  }
}
