import ArgumentParser

/// The option `--limit`: the largest number of values (`top`), of latest decisions and commands (`device`), or of
/// latest commands, each with all its charges (`statement`), or of access records (`access`).
struct LimitOption: ParsableArguments {
  @Option(help: ArgumentHelp("Print at most this many.", valueName: "count"))
  var limit = 100

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit: found \(limit), expected at least 1") }
  }
}
