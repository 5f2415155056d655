import ArgumentParser
import Domain
import Keys
import LineFiles

/// Revokes a key of the HTTP gateway or of the console.
struct KeysRevokeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Revoke a key, so that it stops working.",
    discussion: """
      The key stays in the file, so that logs can still be understood. A running gateway or console refuses it within a second or two.

      EXAMPLE
        rouse keys revoke 5d0c7a1e93b2 --file keys.json
      """)

  @Argument(help: ArgumentHelp("The id of the key, as rouse keys list shows it.", valueName: "id"))
  var id: String
  @OptionGroup var keyFile: KeyFileOption

  func run() throws {
    var file = try keyFile.read()
    guard let index = file.keys.firstIndex(where: { Identifier($0.id) == Identifier(id) }) else {
      throw Failure("\(keyFile.file): there is no key \(id); rouse keys list shows the ids")
    }
    guard file.keys[index].revoked == nil else { return Words.say("key \(id) was revoked before") }
    file.keys[index].revoked = KeyFileOption.now
    try file.write(to: keyFile.file)
    Words.say("key \(id) is revoked")
  }
}
