import ArgumentParser

/// The group of commands on the keys of the HTTP gateway and of the console.
struct KeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Make, list and revoke the keys of the HTTP gateway and of the console.",
    discussion: """
      EXAMPLE
        rouse keys create --role publisher --sources /flights --expires 90d --file keys.json
        rouse keys list --file keys.json
        rouse keys revoke 5d0c7a1e93b2 --file keys.json
      """,
    subcommands: [KeysCreateCommand.self, KeysListCommand.self, KeysRevokeCommand.self])
}
