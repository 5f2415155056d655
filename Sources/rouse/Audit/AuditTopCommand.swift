import ArgumentParser
import Auditing
import Domain

/// Counts decisions by reason, kind, device, event or verdict.
struct AuditTopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top", abstract: "List the most frequent reasons, kinds, devices, events or verdicts.",
    discussion: """
      EXAMPLE
        rouse audit top --by device --limit 10 --store audit.sqlite
      """)

  @Option(help: "The value to count by.")
  var by = Top.Key.reason
  @OptionGroup var limit: LimitOption
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let top = try audit.open().top(by: by, range: time.range, limit: limit.limit)
    try audit.print(text: AuditText.render(top), json: AuditJSON.render(top))
    if top.total == 0 { Words.say("no decision in that time") }
  }
}
