package import Domain
package import Policies

/// One command of a step, as references into the planner's tables.
package struct PlannedCommand {
  /// The device that is pushed to; for a broadcast, the registration of the channel.
  package var device: DeviceSlot
  /// The last part of the command's id.
  package var ordinal: UInt32
  /// The sort of APNs request to make, and its target.
  package var push: PlannedPush
  /// The event that caused the push; absent for the end of an activity after a silence.
  package var event: EventSlot
  /// The index of the first served instance in `PlannerOutput.served`.
  package var servedStart: Int
  /// The number of served instances.
  package var servedCount: Int
  /// The index of the first charge in `PlannerOutput.charges`.
  package var chargesStart: Int
  /// The number of charges.
  package var chargesCount: Int
}

/// The sort of APNs request that a command becomes.
package enum PlannedPush {
  /// A push that reloads instances, by a token of the device, or by that of one instance.
  case reload(ChargedRate, of: InstanceSlot)
  /// A push to a Live Activity, a push-to-start token or a channel. `payload` is the index of the body in
  /// `PlannerOutput.payloads`, and `priority` the APNs priority.
  case activity(InstanceSlot, payload: Int, priority: UInt8)

  /// The surface of the push. A push to a channel counts as `liveActivity` here, because only the instance tells them apart.
  package var surface: Surface {
    switch self {
    case .reload(let rate, _): rate.traits.surface
    case .activity: .liveActivity
    }
  }
}

/// The body of a Live Activity push.
package struct PlannedPayload {
  /// The JSON text to send.
  package var body: String
  /// The band of the body's size.
  package var band: PayloadBand
  /// The subject of the activity that the push starts; nil when it starts none.
  package var subject: Identifier?
  /// The time after which the push is not worth sending.
  package var expires: Timestamp
}

/// An instance that a command serves, with the events that it delivers to the instance.
package struct PlannedServed {
  /// The instance that the command serves.
  package var instance: InstanceSlot
  /// The reason for which the instance is served.
  package var reason: Reason
  /// The index of the first event in `PlannerOutput.causes`.
  package var causesStart: Int
  /// The number of delivered events.
  package var causesCount: Int
  /// The number of delivered events that the command counts but does not list: the first ones, which are the oldest.
  package var leftOut = 0
}

/// One token that a command takes from a ledger.
package struct PlannedCharge {
  /// The ledger that was charged.
  package var ledger: Command.Ledger
  /// The instance, for a ledger that an instance owns; unused for the others.
  package var instance: InstanceSlot
  /// The tokens left in the ledger after the charge.
  package var left: Int32
}
