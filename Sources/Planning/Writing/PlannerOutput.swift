package import Domain
package import Policies

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

package struct PlannedDecision {
  package var event: EventSlot
  package var instance: InstanceSlot
  /// The instance's kind when it was decided; a registration may change it in the same step.
  package var kind: KindSlot
  /// Index in `commands`; −1: none.
  package var command: Int32
  package var causesStart: UInt32
  package var causesCount: UInt32
  package var ordinal: UInt32
  package var verdict: Verdict
  package var reason: Reason
  package var final: Bool
  package var surface: Surface
  package var relevance: Float
  package var value: Float
  package var price: Float
  /// −1: no limit.
  package var leftInstance: Int32
  package var leftDevice: Int32
  package var leftApp: Int32
  /// The latest instant of the next examination; the distant future where there is none.
  package var until: Timestamp
}

package struct PlannedCommand {
  package var device: DeviceSlot
  package var ordinal: UInt32
  package var push: PlannedPush
  /// Event of the cause that tipped it.
  package var event: EventSlot
  package var servedStart: Int
  package var servedCount: Int
  package var chargesStart: Int
  package var chargesCount: Int
}

/// What kind of request a command becomes.
package enum PlannedPush {
  case widgets
  case background
  /// Instance slot of the control.
  case control(InstanceSlot)
  /// Instance slot of the activity or of the push-to-start token, index in `payloads`, APNs priority.
  case activity(InstanceSlot, payload: Int, priority: UInt8)

  /// As far as the kind of request tells: a broadcast is an activity push to a channel.
  package var surface: Surface {
    switch self {
    case .widgets: .widget
    case .background: .background
    case .control: .control
    case .activity: .liveActivity
    }
  }
}

/// The body of a Live Activity push.
package struct PlannedPayload {
  package var body: String
  package var band: PayloadBand
  /// What it starts an activity about; nil: it starts none.
  package var subject: String?
  /// When sending it is no longer worth while, µs.
  package var expires: Timestamp
}

package struct PlannedServed {
  package var instance: InstanceSlot
  package var reason: Reason
  package var causesStart: Int
  package var causesCount: Int
}

package struct PlannedCharge {
  package var ledger: Command.Ledger
  /// Instance slot; unused for the other ledgers.
  package var instance: InstanceSlot
  package var left: Int32
}

extension PlannerOutput {
  /// Reason codes of the decisions, in order.
  public var reasons: [String] { decisions.map { $0.reason.rawValue } }
}
