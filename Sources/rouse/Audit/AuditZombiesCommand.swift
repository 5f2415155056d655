import ArgumentParser
import Auditing

struct AuditZombiesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "zombies", abstract: "Live Activities that were started by push and of which nothing was heard.",
    discussion: """
      Nobody can update or end an activity whose token the device never registered: it stays on the lock screen for up to \
      eight hours. A start is a zombie when half an hour later nothing was decided about, or pushed to, a new activity of \
      its kind on the device.

      EXAMPLE
        rouse audit zombies --from 2026-11-20T00:00:00Z --store audit.sqlite
      """)

  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let started = try audit.open().zombies(range: time.range)
    try audit.print(
      isKnown: started.starts > 0, text: started.starts > 0 ? AuditText.render(started) : "no start in that time\n",
      json: try AuditJSON.render(started))
  }
}
