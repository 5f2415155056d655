package import Domain
package import Policies

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
