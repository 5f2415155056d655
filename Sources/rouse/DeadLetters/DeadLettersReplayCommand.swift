import ArgumentParser
import Domain
import KafkaClient
import Operating

/// Writes dead letters back to the topics they came from.
struct DeadLettersReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Write letters back to the topics they came from.",
    discussion: """
      Writes the original bytes, key and headers into the same partition, with the header `rouse-replayed-from`. All \
      letters are checked before the first is written: when one is refused, none is written, unless --skip-refused \
      leaves it out. A record that still cannot be accepted becomes a dead letter again.

      A letter is replayed once: a receipt is written in the same transaction, and a second replay leaves the \
      letter out. So the same command can be given again after a failure.

      A replayed registration would become the newest record of its device. So it is refused when the device has \
      registered again, or was forgotten, since.

      Exits 1 when letters were refused and --skip-refused was not given, and when neither a letter nor this \
      release has the reason given with --reason.

      EXAMPLE
        rouse dead-letters replay 'rouse.dead-letters[3]@17' \\
          --bootstrap localhost:9092
        rouse dead-letters replay --reason MISSING_FIELD --limit 1000
      """)

  @Argument(help: ArgumentHelp("The letters' places, as list shows them.", valueName: "topic[partition]@offset"))
  var places: [String] = []
  @Option(help: ArgumentHelp("Instead of places: the newest letters with this reason.", valueName: "code"))
  var reason: LetterReason?
  @Option(help: "With --reason: replay at most this many, the newest that were not replayed.")
  var limit = 100
  @Flag(help: "Leave out letters that are refused, and replay the others.")
  var skipRefused = false
  @OptionGroup var settings: SettingsOptions

  func validate() throws {
    if places.isEmpty, reason == nil {
      throw ValidationError("name places as `rouse dead-letters list` shows them, or --reason with a code")
    }
    if !places.isEmpty, reason != nil { throw ValidationError("name places or --reason, not both") }
    guard (1...100_000).contains(limit) else { throw ValidationError("--limit \(limit): expected 1 to 100000") }
  }

  func run() throws {
    let places = try places.map { try LetterPlace.parse($0) }
    let queue = DeadLetterQueue(settings: try settings.resolve().connected())
    var letters: [DeadLetterRecord] = []
    for place in places { letters.append(try queue.letter(at: place)) }
    if let reason {
      letters = try queue.newest(limit, reason: reason.code, waiting: true).reversed()
      if letters.isEmpty {
        // A mistyped code must not look like work that is done.
        if let hint = reason.hint, try queue.newest(1, reason: reason.code).isEmpty {
          throw Failure("no letter has the reason \(reason.code); \(hint)")
        }
        Words.say("no letter with the reason \(reason.code) waits to be replayed")
      }
    }
    var count = 0
    let report: ReplayReport
    do {
      report = try queue.replay(letters, skipsRefused: skipRefused) { replayed in
        count += replayed.count
        for letter in replayed {
          try Output.print("\(letter.place)  replayed to \(letter.origin?.partition.topic ?? "")\n")
        }
      }
    } catch let error as KafkaError {
      let done = count == 0 ? "no letter was" : Digits.count(count, "letter was", "letters were")
      throw Failure(
        "\(error.operation) failed: \(error.message) (\(error.code.name)); \(done) replayed; "
          + "repeat the command to continue; it replays none twice")
    }
    try tell(report)
  }

  private func tell(_ report: ReplayReport) throws {
    for letter in report.replayedBefore { Words.say("\(letter.place): replayed before, left out") }
    for refusal in report.refused { Words.say("\(refusal.letter.place): refused: \(refusal.why)") }
    guard report.refused.isEmpty || skipRefused else {
      throw Failure(
        "\(Digits.count(report.refused.count, "letter")) refused, so none was replayed; name the others only, or leave "
          + "out what is refused with --skip-refused")
    }
    var words: PrintableText = "\(Digits.count(report.replayed.count, "letter")) replayed"
    if !report.replayedBefore.isEmpty { words += ", \(Digits.grouped(report.replayedBefore.count)) replayed before" }
    if !report.refused.isEmpty { words += ", \(Digits.grouped(report.refused.count)) refused" }
    Words.say(words)
  }
}
