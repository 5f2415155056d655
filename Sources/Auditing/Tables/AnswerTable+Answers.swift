import Domain

/// The tables of answers. Members that an answer has once, such as totals, are not in its table.
extension AnswerTable {
  /// Makes a table of decisions and commands, a row for each.
  public init(_ entries: some Sequence<AuditEntry>) {
    self.init(Self.entryColumns, entries.map(Self.row))
  }

  private static let entryColumns: [StaticString] = [
    "record", "id", "at", "device", "instance", "kind", "surface", "verdict", "reason", "final", "event", "events",
    "command",
    "relevance", "wrong", "looks", "value", "price", "tokensLeftInstance", "tokensLeftDevice", "tokensLeftApp", "until",
    "app",
    "environment", "charged", "expires", "policyVersion", "policyHash", "traceparent",
  ]

  private static func row(_ entry: AuditEntry) -> [Cell] {
    switch entry {
    case .decision(let decision): row(decision)
    case .command(let command): row(command)
    }
  }

  private static func row(_ decision: Decision) -> [Cell] {
    [
      .text("decision"), .text(decision.decision), .time(decision.at), .text(decision.device), .text(decision.instance),
      .text(decision.kind), .text(decision.surface.rawValue), .text(decision.verdict.rawValue),
      .text(decision.reason.rawValue), .bool(decision.final), .text(decision.event), .list(decision.events),
      .text(decision.command), .number(decision.relevance), .number(decision.wrong), .number(decision.looks),
      .number(decision.value), .number(decision.price), .integer(decision.tokensLeft.instance),
      .integer(decision.tokensLeft.device), .integer(decision.tokensLeft.app), .time(decision.until), .none, .none,
      .none,
      .none, .text(decision.policy.version), .text(decision.policy.hash),
      decision.traceparent.map { .text($0) } ?? .none,
    ]
  }

  private static func row(_ command: Command) -> [Cell] {
    let charged = command.charged.map { "\($0.ledger.rawValue)=\($0.left)" }.joined(separator: " ")
    return [
      .text("command"), .text(command.command), .time(command.at), .text(command.device),
      .list(command.serves.map(\.instance)), .list(command.serves.map(\.kind)), .text(command.surface.rawValue), .none,
      .none, .none, .none, .list(command.serves.flatMap(\.events)), .text(command.command), .none, .none, .none, .none,
      .none, .none, .none, .none, .none, .text(command.app), .text(command.environment.rawValue), .text(charged),
      .time(command.expires), .text(command.policy.version), .text(command.policy.hash),
      command.traceparent.map { .text($0) } ?? .none,
    ]
  }

  /// Makes a table of the outcomes of a store.
  public init(_ summary: AuditSummary) {
    self.init(
      ["verdict", "reason", "decisions", "final"],
      summary.outcomes.map {
        [.text($0.verdict.rawValue), .text($0.reason.rawValue), .integer($0.decisions), .integer($0.final)]
      })
  }

  /// Makes a table of the counts of an event.
  public init(_ effect: EventEffect) {
    self.init(
      ["verdict", "reason", "final", "kind", "decisions", "sampleDevices"],
      effect.counts.map {
        [
          .text($0.verdict.rawValue), .text($0.reason.rawValue), .bool($0.final), .text($0.kind),
          .integer($0.decisions),
          .list($0.sampleDevices),
        ]
      })
  }

  /// Makes a table of the steps of all stories.
  public init(_ answer: WhyAnswer) {
    self.init(
      [
        "instance", "kind", "surface", "outcome", "at", "decision", "event", "verdict", "reason", "final", "command",
        "explanation", "counterfactual",
      ],
      answer.stories.flatMap { story in
        story.steps.map { step in
          let decision = step.decision
          return [
            .text(story.instance), .text(story.kind), .text(story.surface.rawValue), .text(story.outcome),
            .time(decision.at), .text(decision.decision), .text(decision.event), .text(decision.verdict.rawValue),
            .text(decision.reason.rawValue), .bool(decision.final), .text(decision.command), .text(step.explanation),
            step.counterfactual.map { .text($0) } ?? .none,
          ]
        }
      })
  }

  /// Makes a table of the most frequent values.
  public init(_ top: Top) {
    let column: StaticString =
      switch top.key {
      case .reason: "reason"
      case .kind: "kind"
      case .device: "device"
      case .event: "event"
      case .verdict: "verdict"
      }
    self.init([column, "decisions"], top.rows.map { [.text($0.name), .integer($0.decisions)] })
  }

  /// Makes a table of the lines of all accounts.
  public init(_ statement: BudgetStatement) {
    self.init(lines: statement.accounts.flatMap { account in account.lines.map { (account, $0) } })
  }

  /// Makes a table of the lines of all accounts together, newest first, as the parts of a long statement follow each other.
  public init(newestFirst statement: BudgetStatement) {
    let lines = statement.accounts.flatMap { account in account.lines.reversed().map { (account, $0) } }
    let order = lines.indices.sorted { (lines[$1].1.at, $0) < (lines[$0].1.at, $1) }
    self.init(lines: order.map { lines[$0] })
  }

  private init(lines: [(account: BudgetStatement.Account, line: BudgetStatement.Line)]) {
    self.init(
      ["ledger", "owner", "at", "command", "kinds", "events", "change", "left"],
      lines.map { account, line in
        [
          .text(account.ledger.rawValue), .text(account.owner), .time(line.at), .text(line.command), .list(line.kinds),
          .integer(line.events), .integer(line.change), .integer(line.left),
        ]
      })
  }

  /// Makes a table of the zombies.
  public init(_ started: StartedActivities) {
    self.init(
      ["device", "subject", "kind", "since", "command", "decisionsSince", "cause"],
      started.zombies.map {
        [
          .text($0.device), .text($0.subject), .text($0.kind), .time($0.since), .text($0.command),
          .integer($0.decisionsSince), .text($0.cause.rawValue),
        ]
      })
  }

  /// Makes a table of the holes.
  public init(_ health: StoreHealth) {
    self.init(
      ["topic", "partition", "first", "next", "line", "cause", "reason"],
      health.holes.map {
        [
          .text($0.topic.rawValue), .integer(Int($0.partition)), .integer(Int($0.first)), .integer(Int($0.next)),
          .integer($0.line), .text($0.cause.rawValue), $0.reason.isEmpty ? .none : .text($0.reason),
        ]
      })
  }
}
