import ArgumentParser
import Auditing
import Domain
import JSON
import LineFiles

struct AuditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit", abstract: "Ask an audit store what was decided, and why.",
    discussion: """
      The store is opened for reading only. Times are RFC 3339. An answer that nothing is known is an answer: it goes to \
      standard error, and the exit code is 0.

      EXAMPLE
        rouse audit summary --store audit.sqlite
        rouse audit why device-0000001 --store audit.sqlite
        rouse audit top --by reason --store audit.sqlite
      """,
    subcommands: [
      AuditDeviceCommand.self, AuditEventCommand.self, AuditWhyCommand.self, AuditTopCommand.self,
      AuditStatementCommand.self, AuditSummaryCommand.self, AuditExportCommand.self,
    ])
}

/// Which store, and how to print.
struct AuditOptionGroup: ParsableArguments {
  @Option(help: ArgumentHelp("The audit store.", valueName: "file"))
  var store: String
  @OptionGroup var output: FormatOption

  func open() throws -> AuditStore {
    guard Files.exists(store) else {
      throw Failure(
        "no audit store at \(store); fill one with `rouse plan … --audit \(store)`, or give the path of one that is there"
      )
    }
    return try AuditStore.open(path: store, options: AuditOptions(access: .read))
  }

  /// An answer that is one goes to standard output, one that nothing is known as words to standard error.
  func print(isKnown: Bool = true, text: @autoclosure () -> String, json: @autoclosure () throws -> String) throws {
    if output.format == .json { try Output.print(try json() + "\n") }
    if !isKnown {
      Words.show(text())
    } else if output.format == .text {
      try Output.print(text())
    }
  }
}

/// A span of log time.
struct TimeRangeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("From this time on, RFC 3339.", valueName: "time"), transform: Instant.read)
  var from: Timestamp?
  @Option(help: ArgumentHelp("Up to and without this time, RFC 3339.", valueName: "time"), transform: Instant.read)
  var to: Timestamp?

  var range: TimeRange { TimeRange(from: from, to: to) }
}

/// How many rows at most.
struct LimitOption: ParsableArguments {
  @Option(help: ArgumentHelp("Print at most this many.", valueName: "count"))
  var limit = 100

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit: found \(limit), expected at least 1") }
  }
}

/// An instant on the command line.
enum Instant {
  static func read(_ text: String) throws -> Timestamp {
    guard let time = Timestamp(rfc3339: text) else {
      throw ValidationError("expected an RFC 3339 date and time such as 2013-07-04T12:00:00Z, found '\(text)'")
    }
    return time
  }

  /// `+02:00`, `-04:00`: the offset of an RFC 3339 time.
  static func readOffset(_ text: String) throws -> TimeSpan {
    let midnight = "1970-01-01T00:00:00"
    guard let local = Timestamp(rfc3339: midnight + "Z"), let time = Timestamp(rfc3339: midnight + text) else {
      throw ValidationError("expected an offset to UTC such as +02:00 or -04:00, found '\(text)'")
    }
    return local - time
  }
}

struct AuditDeviceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device", abstract: "What happened to a device, oldest first.",
    discussion: """
      EXAMPLE
        rouse audit device device-0000001 --store audit.sqlite \\
          --from 2013-07-04T00:00:00Z --limit 20
      """)

  @Argument(help: "The device.")
  var device: String
  @OptionGroup var limit: LimitOption
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let timeline = try audit.open().device(device, range: time.range, limit: limit.limit)
    try audit.print(
      isKnown: timeline.isKnown, text: AuditText.render(timeline), json: try AuditJSON.render(timeline))
    if timeline.isKnown, timeline.entries.isEmpty { Words.say("nothing in that time") }
  }
}

struct AuditEventCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "event", abstract: "What one event did, over all devices.",
    discussion: """
      EXAMPLE
        rouse audit event nyc-2013-07-0000001 --store audit.sqlite
      """)

  @Argument(help: "The event's id.")
  var event: String
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let effect = try audit.open().event(event)
    try audit.print(isKnown: effect.isKnown, text: AuditText.render(effect), json: try AuditJSON.render(effect))
  }
}

struct AuditWhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Why did, or didn't, this device reload?",
    discussion: """
      Without --event the answer is about the event that was decided about last, before --at if that is given.

      EXAMPLE
        rouse audit why device-0000001 --store audit.sqlite \\
          --kind FlightStatus --at 2013-07-04T12:00:00Z
      """)

  @Argument(help: "The device.")
  var device: String
  @Option(help: "Only this instance.")
  var instance: String?
  @Option(help: "Only instances of this kind.")
  var kind: String?
  @Option(help: "The event's id.")
  var event: String?
  @Option(
    help: ArgumentHelp("The moment that the question is about, RFC 3339.", valueName: "time"), transform: Instant.read)
  var at: Timestamp?
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let answer = try audit.open().why(
      WhyQuestion(device: device, instance: instance, kind: kind, event: event, at: at))
    try audit.print(
      isKnown: !answer.stories.isEmpty, text: AuditText.render(answer), json: try AuditJSON.render(answer))
  }
}

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

struct AuditStatementCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statement", abstract: "What a device was charged, like the statement of a bank account.",
    discussion: """
      EXAMPLE
        rouse audit statement device-0000001 --store audit.sqlite \\
          --utc-offset=-04:00
      """)

  @Argument(help: "The device.")
  var device: String
  @Option(
    help: ArgumentHelp("Whose days to count: east of UTC, such as +02:00 or -04:00.", valueName: "offset"),
    transform: Instant.readOffset)
  var utcOffset = TimeSpan.zero
  @OptionGroup var limit: LimitOption
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let statement = try audit.open().statement(
      device, range: time.range, utcOffset: utcOffset, limit: limit.limit)
    try audit.print(
      isKnown: statement.isKnown, text: AuditText.render(statement), json: try AuditJSON.render(statement))
  }
}

struct AuditSummaryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "summary", abstract: "A whole store at a glance.",
    discussion: """
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

struct AuditExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write every decision and command as JSON, one a line.",
    discussion: """
      Each line has the bytes that it has on its topic. --format has no effect: nobody reads a table of millions of rows.

      EXAMPLE
        rouse audit export --store audit.sqlite \\
          --from 2013-07-04T00:00:00Z --out since-july-4.jsonl.gz
      """)

  @Option(help: ArgumentHelp("Where the lines go.", valueName: "file"))
  var out = "-"
  @OptionGroup var time: TimeRangeOptions
  @OptionGroup var audit: AuditOptionGroup

  func run() throws {
    let store = try audit.open()
    var writer = try LineWriter(path: out)
    let line = ProgressLine()
    defer { line.end() }
    var written = 0
    var json = JSONWriter(reserving: 4096)
    let count = try store.export(time.range) { entry in
      json.reset()
      switch entry {
      case .decision(let decision): decision.encode(to: &json)
      case .command(let command): command.encode(to: &json)
      }
      try writer.append(json.bytes)
      try writer.endLine()
      written += 1
      if written % 1024 == 0 { line.show("\(Digits.grouped(written)) rows") }
      return true
    }
    try writer.close()
    line.end()
    Words.say(count == 0 ? "nothing in that time" : Digits.count(count, "row"))
  }
}
