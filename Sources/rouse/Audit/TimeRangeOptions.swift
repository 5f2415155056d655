import ArgumentParser
import Auditing
import Domain

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
