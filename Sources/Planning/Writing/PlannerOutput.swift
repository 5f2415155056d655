import Domain

/// The decisions and commands of one step of a planner (`Planner.advance`), as references into the planner's tables. They are
/// valid until the planner's next step. `Planner.decision` and `Planner.command` turn them into values, and `DecisionWriter`
/// writes them as JSON.
public struct PlannerOutput {
  /// The decisions of the step, in the order of their ordinals.
  package var decisions: ContiguousArray<PlannedDecision> = []
  /// The commands of the step, in the order of their ordinals.
  package var commands: ContiguousArray<PlannedCommand> = []
  /// The commands of earlier steps that decisions of this one refer to.
  private var earlierCommands: ContiguousArray<LastCommand> = []
  /// The events that the commands deliver, by served instance. Decisions and commands refer to ranges of them.
  package var causes: ContiguousArray<EventSlot> = []
  /// The instances that the commands serve. Each command refers to a range of them.
  package var served: ContiguousArray<PlannedServed> = []
  /// The charges of the commands. Each command refers to a range of them.
  package var charges: ContiguousArray<PlannedCharge> = []
  /// The bodies of Live Activity pushes.
  package var payloads: ContiguousArray<PlannedPayload> = []
  /// The bodies near or above the platform's limit, one entry for each kind and band, to be reported to an operator.
  public internal(set) var largePayloads: [LargePayload] = []

  /// Creates an empty output, to be reused for many steps.
  public init() {}

  /// The number of decisions.
  public var decisionCount: Int { decisions.count }
  /// The number of commands.
  public var commandCount: Int { commands.count }

  /// Removes everything and keeps the storage.
  public mutating func removeAll() {
    decisions.clear()
    commands.clear()
    earlierCommands.clear()
    causes.clear()
    served.clear()
    charges.clear()
    payloads.clear()
    if !largePayloads.isEmpty { largePayloads.removeAll() }
  }
}

extension PlannerOutput {
  /// Notes a command of an earlier step.
  /// - Returns: Its place for `PlannedDecision.command`, −2 or less.
  mutating func place(ofEarlier command: LastCommand) -> Int {
    earlierCommands.append(command)
    return -1 - earlierCommands.count
  }

  /// Returns the log offset of the record that led to the command of a decision, and the number of the command among those of
  /// the record; nil when the decision has no command.
  /// - Parameters:
  ///   - decision: A decision of this output.
  ///   - offset: The log offset of the record in hand.
  func command(of decision: PlannedDecision, offset: Int64) -> (offset: Int64, ordinal: UInt32)? {
    if decision.command == -1 { return nil }
    if decision.command >= 0 { return (offset, commands[Int(decision.command)].ordinal) }
    let earlier = earlierCommands[-2 - Int(decision.command)]
    return (earlier.offset, earlier.ordinal)
  }

  /// The reason codes of the decisions, in order.
  public var reasons: [String] { decisions.map { $0.reason.rawValue } }
}
