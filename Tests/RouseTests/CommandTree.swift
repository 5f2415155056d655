import Foundation

/// The commands of the built program, as its argument parser describes them.
struct CommandTree: Decodable {
  /// A command with its subcommands.
  struct Command: Decodable {
    var commandName: String
    var abstract: String?
    var discussion: String?
    var arguments: [Argument]?
    var subcommands: [Command]?
  }

  /// An argument, an option or a flag of a command.
  struct Argument: Decodable {
    struct Name: Decodable {
      var kind: String
      var name: String
    }
    var kind: String
    var names: [Name]?
    var valueName: String?
    var abstract: String?

    /// The long name with its dashes, or the name of an argument's value.
    var title: String {
      names?.first { $0.kind == "long" }.map { "--\($0.name)" } ?? valueName ?? kind
    }
  }

  /// A command with the words that call it: `["policy", "check"]`.
  struct Entry {
    var path: [String]
    var command: Command
    var title: String { (["rouse"] + path).joined(separator: " ") }
  }

  var command: Command

  /// Asks the program. Hidden commands are included; the parser's own `help` is not.
  static func read() throws -> [Entry] {
    let outcome = try Workplace().rouse("--experimental-dump-help")
    let tree = try JSONDecoder().decode(CommandTree.self, from: Data(outcome.out.utf8))
    return entries(tree.command, [])
  }

  private static func entries(_ command: Command, _ path: [String]) -> [Entry] {
    [Entry(path: path, command: command)]
      + (command.subcommands ?? []).filter { $0.commandName != "help" }.flatMap { entries($0, path + [$0.commandName]) }
  }
}
