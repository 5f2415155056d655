import ArgumentParser
import Auditing
import Domain

/// The options of every question: the store, and the format of the answer.
struct AuditOptionGroup: ParsableArguments {
  @Option(help: ArgumentHelp("The audit store.", valueName: "file"))
  var store: String
  @OptionGroup var output: FormatOption

  /// Opens the store for reading.
  /// - Throws: ``Failure`` when there is no file, `AuditError` when it is no audit store.
  func open() throws -> AuditStore {
    guard Files.exists(store) else {
      throw Failure(
        "no audit store at \(store); fill one with `rouse plan … --audit \(store)`, or name another with --store"
      )
    }
    return try AuditStore.open(path: store, options: AuditOptions(access: .read))
  }

  /// Prints an answer.
  /// - Parameters:
  ///   - isKnown: whether the store knows the subject of the question. If not, the text goes to standard error.
  ///   - text: the answer for people.
  ///   - json: the answer for programs, which always goes to standard output.
  func print(isKnown: Bool = true, text: @autoclosure () -> PrintableText, json: @autoclosure () -> String)
    throws
  {
    if output.format == .json { try Output.print(data: json() + "\n") }
    if !isKnown {
      Words.show(text())
    } else if output.format == .text {
      try Output.print(text())
    }
  }
}

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

/// The option `--limit`: the largest number of values (`top`), of latest decisions and commands (`device`), or of
/// latest commands, each with all its charges (`statement`), or of access records (`access`).
struct LimitOption: ParsableArguments {
  @Option(help: ArgumentHelp("Print at most this many.", valueName: "count"))
  var limit = 100

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit: found \(limit), expected at least 1") }
  }
}
