import ArgumentParser
import Auditing
import Domain

/// The options that restrict an answer to a span of log time.
struct TimeRangeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Only from this time on, RFC 3339.", valueName: "time"), transform: Instant.read)
  var from: Timestamp?
  @Option(help: ArgumentHelp("Only before this time, RFC 3339.", valueName: "time"), transform: Instant.read)
  var to: Timestamp?

  var range: TimeRange { TimeRange(from: from, to: to) }

  func validate() throws {
    if let from, let to, from >= to {
      throw ValidationError("--from \(from) is not before --to \(to), so there is nothing between them; exchange them")
    }
  }
}
