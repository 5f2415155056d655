import ArgumentParser

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
