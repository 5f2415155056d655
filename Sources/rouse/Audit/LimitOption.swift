import ArgumentParser

/// The option that limits the number of rows.
struct LimitOption: ParsableArguments {
  @Option(help: ArgumentHelp("Print at most this many.", valueName: "count"))
  var limit = 100

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit: found \(limit), expected at least 1") }
  }
}
