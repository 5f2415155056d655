import ArgumentParser
import Domain
import Glibc
import LineFiles

/// Runs the command of the command line and ends the process with its exit code: 0 done, 1 failed, 2 wrong use.
@main
enum EntryPoint {
  static func main() async {
    // Without this, writing to a closed pipe would end the process; now the write fails with a path and a reason.
    _ = signal(SIGPIPE, SIG_IGN)
    exit(await run())
  }

  private static func run() async -> Int32 {
    var running: (any ParsableCommand.Type)?
    do {
      var command = try Rouse.parseAsRoot()
      running = type(of: command)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      return 0
    } catch {
      return end(error, of: running)
    }
  }

  /// Returns the names by which a command is called, such as `rouse topics check`; nil if the command is not below `root`.
  private static func names(
    of command: any ParsableCommand.Type, below root: any ParsableCommand.Type = Rouse.self
  ) -> String? {
    if command == root { return root._commandName }
    for next in root.configuration.subcommands {
      if let names = names(of: command, below: next) { return "\(root._commandName) \(names)" }
    }
    return nil
  }

  /// Prints an error.
  /// - Parameter running: the command that threw it while it ran; nil if the arguments could not be parsed.
  /// - Returns: the exit code.
  private static func end(_ error: any Error, of running: (any ParsableCommand.Type)?) -> Int32 {
    if let file = error as? LineFileError, file.isBrokenPipe { return 0 }
    switch Rouse.exitCode(for: error) {
    case .success:
      // Help, version, completion scripts.
      do { try Output.print(PrintableText(lines: Rouse.fullMessage(for: error)) + "\n") } catch {
        return error.isBrokenPipe ? 0 : 1
      }
      return 0
    case .validationFailure:
      if let running, let names = names(of: running), error is ValidationError {
        // The parser's own message would show the usage of `rouse`, because parsing is over.
        Words.say("rouse: " + message(Rouse.message(for: error)) + "\n  See '\(names) --help' for more information.")
      } else {
        Words.say("rouse: " + message(Rouse.fullMessage(for: error)))
      }
      return 2
    case let code where error is ExitCode: return code.rawValue
    default:
      let words = ErrorWords(error)
      for line in words.details { Words.say(line) }
      Words.say("rouse: \(words.text)")
      return 1
    }
  }

  /// Returns a message of the argument parser without its label `Error:`. The line feeds of arguments that it quotes are
  /// escaped, so that they do not begin lines.
  private static func message(_ text: String) -> PrintableText {
    var message = text
    for argument in CommandLine.arguments where argument.utf8.contains(UInt8(ascii: "\n")) {
      let value = argument.drop { $0 != "=" }.dropFirst()
      for quoted in [Substring(argument), value] where !quoted.isEmpty {
        message = message.replacing(quoted, with: PrintableText(escaping: quoted).description)
      }
    }
    let label = "Error: "
    guard message.hasPrefix(label) else { return PrintableText(lines: message) }
    let text = message.dropFirst(label.count)
    return PrintableText(lines: text.prefix(1).lowercased() + text.dropFirst())
  }
}
