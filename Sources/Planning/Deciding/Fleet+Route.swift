import Domain
import Policies

/// The first system with widget pushes. Source: Apple's WidgetPushHandler page.
let widgetPushOS = OSVersion(major: 26)

extension Fleet {
  /// Returns a widget push if the system, the token and the configuration allow it, else a background push, else the reason why
  /// the instance cannot be reached.
  @inline(__always)
  func route(of instance: InstanceSlot, device: DeviceSlot) -> Route {
    switch registry.instances[instance].surface {
    case .widget: break
    case .control: return controlRoute(instance, device: device)
    // A Live Activity is pushed to by its own token, never by a route that instances share.
    case .activity, .starter: return .unreachable(.noToken)
    }
    let flags = registry.devices[device].flags
    let system = registry.devices[device].osVersion
    if flags.contains(.widgetsToken), !flags.contains(.widgetsTokenDead), system >= widgetPushOS,
      registry.instances[instance].flags.contains(.pushEnabled),
      !rules[registry.instances[instance].kind].prefersBackground
    {
      return .widgetPush
    }
    if flags.contains(.backgroundToken), !flags.contains(.backgroundTokenDead) { return .backgroundPush }
    if flags.contains(.backgroundToken) { return .unreachable(.tokenDead) }
    guard flags.contains(.widgetsToken) else { return .unreachable(.noToken) }
    if system < widgetPushOS { return .unreachable(.unsupportedOS) }
    return .unreachable(flags.contains(.widgetsTokenDead) ? .tokenDead : .noToken)
  }

  /// Returns `Registry.controlRoute`. What `route` calls must be of the fleet: a part that is passed on is copied, wherever `route` is inlined.
  @inline(never)
  private func controlRoute(_ instance: InstanceSlot, device: DeviceSlot) -> Route {
    registry.controlRoute(instance, device: device)
  }

  /// Returns whether an event waits on the instance.
  @inline(__always)
  func hasPending(_ instance: InstanceSlot) -> Bool { !pending.isEmpty(registry.instances[instance].waiting) }
}
