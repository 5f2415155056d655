import Domain

/// The way in which a device can be reached for one instance.
enum Route: Equatable {
  case widgetPush, backgroundPush
  /// A push to the token of this control.
  case controlPush(InstanceSlot)
  /// No push can reach the instance, for this reason.
  case unreachable(Reason)

  /// The instance to whose own token the push goes; absent if instances share the token.
  var target: InstanceSlot {
    if case .controlPush(let control) = self { control } else { .absent }
  }

  /// The rate that a push by this route draws on; that of WidgetKit pushes for an unreachable instance.
  var rate: ChargedRate {
    switch self {
    case .widgetPush, .unreachable: .widgetPushes
    case .backgroundPush: .backgroundPushes
    case .controlPush: .controlPushes
    }
  }
}
