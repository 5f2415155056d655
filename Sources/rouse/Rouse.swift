import ArgumentParser

/// The root command: nothing but the list of commands.
struct Rouse: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rouse", abstract: "Decides which widgets are worth a reload, and keeps the books.",
    discussion: """
      Exit codes: 0 done, 1 failed, 2 wrong use. Data goes to standard output, words to standard error. \
      Where a file of lines is expected, .jsonl, .jsonl.gz and - (standard input or output) are taken alike.

      EXAMPLE
        rouse fleet --events events.jsonl --devices 1000 --out devices.jsonl
        rouse plan --policy policy.yaml --devices devices.jsonl \\
          --events events.jsonl --audit audit.sqlite
        rouse audit summary --store audit.sqlite
      """,
    version: "0.1.0",
    subcommands: [
      DemoCommand.self,
      RunCommand.self,
      TopicsCommand.self,
      PlanCommand.self,
      SimulateCommand.self,
      FleetCommand.self,
      PolicyCommand.self,
      AuditCommand.self,
      VerifyCommand.self,
      DeadLettersCommand.self,
      BenchCommand.self,
    ])
}
