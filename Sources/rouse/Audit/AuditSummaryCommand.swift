import ArgumentParser
import Auditing
import Domain

/// Summarises a store.
struct AuditSummaryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "summary", abstract: "Summarise a whole store.",
    discussion: """
      Only events and devices with a decision are counted: an event without an interested device is not in the store.

      EXAMPLE
        rouse audit summary --store audit.sqlite --format json
      """)

  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let summary = try audit.open().summary()
    try audit.print(text: AuditText.render(summary), json: AuditJSON.render(summary))
    if summary.decisions == 0 { Words.say("the store holds no decision") }
  }
}
