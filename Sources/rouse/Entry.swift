import ArgumentParser
import Domain
import Glibc
import KafkaClient
import LineFiles
import Policies

/// Runs the command of the command line and ends the process with its exit code: 0 done, 1 failed, 2 wrong use.
@main
enum EntryPoint {
  static func main() async {
    // Without this, writing to a closed pipe would end the process; now the write fails with a path and a reason.
    _ = signal(SIGPIPE, SIG_IGN)
    exit(await run())
  }

  private static func run() async -> Int32 {
    do {
      var command = try Rouse.parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      return 0
    } catch {
      return end(error)
    }
  }

  /// Prints an error.
  /// - Returns: the exit code.
  private static func end(_ error: any Error) -> Int32 {
    if let file = error as? LineFileError {
      if file.isBrokenPipe { return 0 }
      Words.say("rouse: \(file)")
      return 1
    }
    if let policy = error as? PolicyError {
      // In the format of compilers, so that editors find the place.
      for problem in policy.problems { Words.say("\(problem)") }
      Words.say("rouse: the policy cannot be used; `rouse policy check` shows the same")
      return 1
    }
    if let kafka = error as? KafkaError, kafka.code == .unknownTopicOrPartition {
      Words.say("rouse: \(kafka); is topics.prefix right? `rouse topics create` makes what is missing")
      return 1
    }
    switch Rouse.exitCode(for: error) {
    case .success:
      // Help, version, completion scripts.
      do { try Output.print(PrintableText(lines: Rouse.fullMessage(for: error)) + "\n") } catch {
        return error.isBrokenPipe ? 0 : 1
      }
      return 0
    case .validationFailure:
      Words.say("rouse: " + usage(error))
      return 2
    case let code where error is ExitCode: return code.rawValue
    default:
      Words.say("rouse: \(error)")
      return 1
    }
  }

  /// Returns the message of the argument parser without its label `Error:`. The line feeds of arguments that it quotes are
  /// escaped, so that they do not begin lines.
  private static func usage(_ error: any Error) -> PrintableText {
    var message = Rouse.fullMessage(for: error)
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
