import ArgumentParser
import Auditing

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
