import ArgumentParser

/// The group of commands on the log of planners.
struct LogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Take the input of planners out of the log.",
    discussion: """
      EXAMPLE
        rouse log export --config rouse.yaml --devices devices.jsonl.gz \\
          --events events.jsonl.gz --signals signals.jsonl.gz --sample 0.01
      """,
    subcommands: [LogExportCommand.self])
}
