import ArgumentParser
import Auditing

struct AuditSummaryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "summary", abstract: "A whole store at a glance.",
    discussion: """
      Events and devices are those with a decision: an event that nobody listens to leaves no trace here.

      EXAMPLE
        rouse audit summary --store audit.sqlite --format json
      """)

  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let summary = try audit.open().summary()
    try audit.print(text: AuditText.render(summary), json: try AuditJSON.render(summary))
    if summary.decisions == 0 { Words.say("the store holds no decision") }
  }
}
