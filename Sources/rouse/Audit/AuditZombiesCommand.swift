import ArgumentParser
import Auditing
import Domain

/// Lists Live Activities that cannot be updated or ended.
struct AuditZombiesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "zombies", abstract: "List Live Activities that were started by push and never registered.",
    discussion: """
      An activity whose token the device never registered cannot be updated or ended: it stays on the lock screen for up \
      to eight hours. A start counts as a zombie when, half an hour later, there is no decision about and no push to a \
      new activity of its kind on the device.

      EXAMPLE
        rouse audit zombies --from 2026-11-20T00:00:00Z --store audit.sqlite
      """)

  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let started = try audit.open().zombies(range: time.range)
    try audit.print(
      isKnown: started.starts > 0, text: started.starts > 0 ? AuditText.render(started) : "no start in that time\n",
      json: AuditJSON.render(started))
  }
}
