import ArgumentParser
import Auditing
import Domain
import Policies

/// Summarises a store.
struct AuditSummaryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "summary", abstract: "Summarise a whole store.",
    discussion: """
      Only events and devices with a decision are counted: an event without an interested device is not in the store.

      Of kinds with an objective, the changes that were shown in time are listed. A change counts with the decision that closes it, so \
      what still waits is not in it. With --policy the rate at which the error budget is spent is added: above 1 the budget does not \
      last. The windows are those of the alerts. They end with the newest record, or at --until, and are counted to the microsecond.

      EXAMPLE
        rouse audit summary --store audit.sqlite --format json
        rouse audit summary --store audit.sqlite --policy policy.yaml
      """)

  @OptionGroup var audit: AuditOptionGroup
  @Option(help: ArgumentHelp("The policy whose objectives the changes are compared with.", valueName: "file"))
  var policy: String?
  @Option(
    help: ArgumentHelp("The end of the windows of objectives, RFC 3339.", valueName: "time"), transform: Instant.read)
  var until: Timestamp?

  func run() throws {
    let shares = try policy.map { try Self.shares(PolicyFile.document($0).policy) }
    let summary = try audit.open().summary(until: until)
    try audit.print(
      text: AuditText.render(summary, shares: shares), json: AuditJSON.render(summary, shares: shares ?? [:]))
    if summary.decisions == 0 { Words.say("the store holds no decision") }
  }

  /// Returns the shares of the objectives of a policy, by kind.
  static func shares(_ policy: Policy) -> [Identifier: Double] {
    var shares: [Identifier: Double] = [:]
    for kind in policy.kinds { shares[kind.name] = kind.objective?.share }
    return shares
  }
}
