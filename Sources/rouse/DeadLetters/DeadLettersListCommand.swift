import ArgumentParser
import Domain
import JSON
import Operating

/// Lists the newest dead letters.
struct DeadLettersListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the newest letters with reason and origin.",
    discussion: """
      EXAMPLE
        rouse dead-letters list --bootstrap localhost:9092 --limit 50
      """)

  @OptionGroup var settings: SettingsOptions
  @Option(help: ArgumentHelp("Print at most this many.", valueName: "count"))
  var limit = 20
  @Option(help: ArgumentHelp("Only letters with this reason.", valueName: "code"))
  var reason: LetterReason?
  @OptionGroup var output: FormatOption

  func validate() throws {
    guard (1...100_000).contains(limit) else { throw ValidationError("--limit \(limit): expected 1 to 100000") }
  }

  func run() throws {
    let queue = DeadLetterQueue(settings: try settings.resolve().connected())
    let letters = try queue.newest(limit, reason: reason?.code)
    switch output.format {
    case .text:
      if letters.isEmpty { sayNone() }
      for letter in letters { try Output.print(letter.line + "\n") }
    case .json:
      var json = JSONWriter()
      json.beginArray()
      for letter in letters { letter.encode(to: &json, whole: false) }
      json.endArray()
      try Output.print(json.bytes)
    }
  }

  private func sayNone() {
    guard let reason else { return Words.say("no dead letters") }
    Words.say("no dead letter has the reason \(reason.code)")
    if let hint = reason.hint { Words.say(hint) }
  }
}
