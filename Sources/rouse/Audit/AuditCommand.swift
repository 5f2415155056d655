import ArgumentParser

struct AuditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit", abstract: "Ask an audit store what was decided, and why.",
    discussion: """
      The store is opened for reading only. Times are RFC 3339. An answer that nothing is known is an answer: it goes to \
      standard error, and the exit code is 0.

      EXAMPLE
        rouse audit summary --store audit.sqlite
        rouse audit why device-0000001 --store audit.sqlite
        rouse audit top --by reason --store audit.sqlite
      """,
    subcommands: [
      AuditDeviceCommand.self, AuditEventCommand.self, AuditWhyCommand.self, AuditTopCommand.self,
      AuditStatementCommand.self, AuditZombiesCommand.self, AuditSummaryCommand.self, AuditExportCommand.self,
    ])
}
