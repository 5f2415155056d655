import Domain

/// What one step of a planner decided, as numbers that refer to the planner's tables: valid until the planner's next
/// step. `Planner.decision` and `Planner.command` write them out.
public struct PlannerOutput {
  package var decisions: ContiguousArray<PlannedDecision> = []
  package var commands: ContiguousArray<PlannedCommand> = []
  /// Event slots of merged causes, referred to by ranges.
  package var causes: ContiguousArray<EventSlot> = []
  package var served: ContiguousArray<PlannedServed> = []
  package var charges: ContiguousArray<PlannedCharge> = []
  /// Bodies of Live Activity pushes.
  package var payloads: ContiguousArray<PlannedPayload> = []
  /// Bodies near or above the platform's limit, by kind and band: an operator should hear of them.
  public internal(set) var largePayloads: [LargePayload] = []

  public init() {}

  public var decisionCount: Int { decisions.count }
  public var commandCount: Int { commands.count }

  /// Empties it, keeping its storage.
  public mutating func removeAll() {
    // Most are empty most of the time, and emptying an array asks who else has it.
    if !decisions.isEmpty { decisions.removeAll(keepingCapacity: true) }
    if !commands.isEmpty { commands.removeAll(keepingCapacity: true) }
    if !causes.isEmpty { causes.removeAll(keepingCapacity: true) }
    if !served.isEmpty { served.removeAll(keepingCapacity: true) }
    if !charges.isEmpty { charges.removeAll(keepingCapacity: true) }
    if !payloads.isEmpty { payloads.removeAll(keepingCapacity: true) }
    if !largePayloads.isEmpty { largePayloads.removeAll() }
  }
}

extension PlannerOutput {
  /// Reason codes of the decisions, in order.
  public var reasons: [String] { decisions.map { $0.reason.rawValue } }
}
