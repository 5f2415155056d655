import ArgumentParser
import Domain
import JSON
import Operating

/// Shows one dead letter.
struct DeadLettersShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one letter with its headers and bytes.",
    discussion: """
      EXAMPLE
        rouse dead-letters show 'rouse.dead-letters[3]@17' --bootstrap localhost:9092
      """)

  @Argument(help: ArgumentHelp("The letter's place, as list shows it.", valueName: "topic[partition]@offset"))
  var place: String
  @OptionGroup var settings: SettingsOptions
  @OptionGroup var output: FormatOption

  func run() throws {
    let place = try LetterPlace.parse(place)
    let letter = try DeadLetterQueue(settings: try settings.resolve().connected()).letter(at: place)
    switch output.format {
    case .text: try Output.print(letter.page)
    case .json:
      var json = JSONWriter()
      letter.encode(to: &json, whole: true)
      try Output.print(json.bytes)
    }
  }
}
