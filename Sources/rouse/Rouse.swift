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

/// The group of questions to an audit store.
struct AuditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit", abstract: "Ask an audit store about decisions and their reasons.",
    discussion: """
      The store is opened for reading only. Times are RFC 3339. When nothing is known, words on standard error say so \
      and the exit code is still 0.

      EXAMPLE
        rouse audit summary --store audit.sqlite
        rouse audit why device-0000001 --store audit.sqlite
        rouse audit top --by reason --store audit.sqlite
      """,
    subcommands: [
      AuditDeviceCommand.self, AuditEventCommand.self, AuditWhyCommand.self, AuditTopCommand.self,
      AuditStatementCommand.self, AuditZombiesCommand.self, AuditSummaryCommand.self, AuditObjectivesCommand.self,
      AuditExportCommand.self, AuditAccessCommand.self,
    ])
}

struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measure on this machine.",
    discussion: """
      Figures from a debug build mean nothing: build with -c release.

      EXAMPLE
        rouse bench planner
        rouse bench audit --store /tmp/bench.sqlite
        rouse bench intake --bootstrap localhost:9092
        rouse bench pipeline --bootstrap localhost:9092
        rouse bench observing --bootstrap localhost:9092
        rouse bench scrape
        rouse bench latency --bootstrap localhost:9092
        rouse bench restore --bootstrap localhost:9092
        rouse bench restart --bootstrap localhost:9092
        rouse bench gateway --bootstrap localhost:9092
        rouse bench console
      """,
    subcommands: [
      BenchPlannerCommand.self, BenchAuditCommand.self, BenchIntakeCommand.self, BenchPipelineCommand.self,
      BenchObservingCommand.self, BenchScrapeCommand.self, BenchLatencyCommand.self, BenchRestoreCommand.self,
      BenchRestartCommand.self, BenchGatewayCommand.self, BenchGatewayClientCommand.self,
      BenchGatewaySlowCommand.self, BenchConsoleCommand.self, BenchBrokerCommand.self,
    ])
}

/// The group of commands on records that were not accepted.
struct DeadLettersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dead-letters", abstract: "Look at records that were not accepted, and give them back.",
    discussion: """
      EXAMPLE
        rouse dead-letters list --bootstrap localhost:9092
        rouse dead-letters show 'rouse.dead-letters[3]@17' \\
          --bootstrap localhost:9092
        rouse dead-letters replay --reason MISSING_FIELD
      """,
    subcommands: [
      DeadLettersListCommand.self, DeadLettersShowCommand.self, DeadLettersReplayCommand.self,
    ])
}

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

/// The group of commands on policies.
struct PolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy", abstract: "Check, explain, compare and apply policies.",
    discussion: """
      EXAMPLE
        rouse policy check policy.yaml
        rouse policy explain policy.yaml --kind FlightStatus
        rouse policy diff old.yaml new.yaml
        rouse policy profiles
      """,
    subcommands: [
      PolicyCheckCommand.self, PolicyApplyCommand.self, PolicyExplainCommand.self, PolicyDiffCommand.self,
      PolicyProfilesCommand.self,
    ])
}

/// The group of commands on budget profiles.
struct PolicyProfilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profiles", abstract: "Print the budget profiles that come with this version.",
    discussion: """
      A profile is a YAML file: a platform's limits, each number with its source. To use other numbers, print one, \
      change it, give it a name of its own, and name the file in the policy: `profile: ./my-profile.yaml`.

      EXAMPLE
        rouse policy profiles
        rouse policy profiles show apple-2026 > my-profile.yaml
        rouse policy check policy.yaml --profile my-profile.yaml
      """, subcommands: [PolicyProfilesListCommand.self, PolicyProfilesShowCommand.self],
    defaultSubcommand: PolicyProfilesListCommand.self)
}

/// The group of commands on Rouse's own topics.
struct TopicsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "topics", abstract: "Make and check the topics that Rouse works with, and print who may use them.",
    discussion: """
      EXAMPLE
        rouse topics create --bootstrap localhost:9092
        rouse topics check --bootstrap localhost:9092
        rouse topics acls --principal User:rouse
      """,
    subcommands: [TopicsCreateCommand.self, TopicsCheckCommand.self, TopicsACLsCommand.self])
}
