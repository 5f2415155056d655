import ArgumentParser
import Auditing

struct AuditTopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top", abstract: "The most frequent reasons, kinds, devices, events or verdicts.",
    discussion: """
      EXAMPLE
        rouse audit top --by device --limit 10 --store audit.sqlite
      """)

  @Option(help: "What to count.")
  var by = Top.Key.reason
  @OptionGroup var limit: LimitOption
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let top = try audit.open().top(by: by, range: time.range, limit: limit.limit)
    try audit.print(text: AuditText.render(top), json: try AuditJSON.render(top))
    if top.total == 0 { Words.say("no decision in that time") }
  }
}
