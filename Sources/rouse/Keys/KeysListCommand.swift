import ArgumentParser
import Domain
import JSON
import Keys

/// Lists the keys of the HTTP gateway and of the console.
struct KeysListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the keys, without their secrets.",
    discussion: """
      EXAMPLE
        rouse keys list --file keys.json
      """)

  @OptionGroup var keyFile: KeyFileOption
  @OptionGroup var output: FormatOption

  func run() throws {
    let (file, now) = (try keyFile.read(), KeyFileOption.now)
    switch output.format {
    case .text:
      if file.keys.isEmpty { Words.say("no keys; rouse keys create makes one") }
      for key in file.keys {
        let words = [key.id, key.role.rawValue, key.state(at: now), key.bounds].compactMap { $0 }
        try Output.print(PrintableText(escaping: words.joined(separator: "  ")) + "\n")
      }
    case .json:
      var json = JSONWriter()
      json.beginArray()
      for key in file.keys { key.encode(to: &json, at: now) }
      json.endArray()
      try Output.print(json.bytes)
    }
  }
}
