public import ArgumentParser
public import Auditing
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

/// Lists the decisions and commands of one device.
struct AuditDeviceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device", abstract: "List the latest decisions and commands of a device, oldest first.",
    discussion: """
      EXAMPLE
        rouse audit device device-0000001 --store audit.sqlite \\
          --from 2013-07-04T00:00:00Z --limit 20
      """)

  @Argument(help: "The id of the device.")
  var device: Identifier
  @OptionGroup var limit: LimitOption
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let timeline = try audit.open().device(device, range: time.range, limit: limit.limit)
    try audit.print(
      isKnown: timeline.isKnown, text: AuditText.render(timeline), json: AuditJSON.render(timeline))
    if timeline.isKnown, timeline.entries.isEmpty { Words.say("nothing in that time") }
  }
}

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

/// Lists the charges of one device.
struct AuditStatementCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statement", abstract: "List the charges of a device, like the statement of a bank account.",
    discussion: """
      EXAMPLE
        rouse audit statement device-0000001 --store audit.sqlite \\
          --utc-offset=-04:00
      """)

  @Argument(help: "The id of the device.")
  var device: Identifier
  @Option(
    help: ArgumentHelp(
      "The UTC offset of the days to count, such as =+02:00 or =-04:00, with the = before it.", valueName: "offset"),
    transform: Instant.readOffset)
  var utcOffset = TimeSpan.zero
  @OptionGroup var limit: LimitOption
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let statement = try audit.open().statement(
      device, range: time.range, utcOffset: utcOffset, limit: limit.limit)
    try audit.print(
      isKnown: statement.isKnown, text: AuditText.render(statement), json: AuditJSON.render(statement))
  }
}

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

extension Top.Key: ExpressibleByArgument {}

/// Lists Live Activities that cannot be updated or ended.
struct AuditZombiesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "zombies",
    abstract: "List Live Activities that were started by push and that no push can update or end.",
    discussion: """
      An activity whose token the device never registered, or whose token APNs has refused for good, cannot be updated or \
      ended: it stays on the lock screen for up to eight hours. A start counts as never registered when, half an hour \
      later, there is no decision about and no push to a new activity of its kind on the device; its token counts as \
      rejected when the newest decision about the activity is TOKEN_DEAD.

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
