import ArgumentParser

/// The root command, which only lists the commands.
struct Rouse: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rouse", abstract: "Decide which widgets are worth a reload, and keep the books.",
    discussion: """
      Exit codes: 0 done, 1 failed, 2 wrong use. Data goes to standard output, messages to standard error. \
      A file of lines may be .jsonl, .jsonl.gz or - for standard input or output.

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
      LogCommand.self,
      DoctorCommand.self,
      PlanCommand.self,
      SimulateCommand.self,
      FleetCommand.self,
      PolicyCommand.self,
      AuditCommand.self,
      VerifyCommand.self,
      DeadLettersCommand.self,
      SkipCommand.self,
      KeysCommand.self,
      BoundsCommand.self,
      BenchCommand.self,
    ])
}
