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
