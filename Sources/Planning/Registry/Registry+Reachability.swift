import Domain

/// The first iOS with control pushes. Source: Apple's ControlPushHandler page. macOS and watchOS have them since version 26, and
/// only from then on can their apps register a token for a control.
private let controlPushOS = OSVersion(major: 18)

/// By which tokens a device and its instances can be reached.
extension Registry {
  /// Returns whether a device is in developer mode, in which pushes are free.
  func isInDeveloperMode(_ device: DeviceSlot) -> Bool {
    devices[device].flags.contains(.developerMode)
  }

  /// Returns the route to a control, by its own token; or the reason why it cannot be reached.
  func controlRoute(_ instance: InstanceSlot, device: DeviceSlot) -> Route {
    if devices[device].osVersion < controlPushOS { return .unreachable(.unsupportedOS) }
    guard let control = addressed[instance] else { return .unreachable(.noToken) }
    if control.hasLostToken { return .unreachable(.noToken) }
    return control.tokenDead ? .unreachable(.tokenDead) : .controlPush(instance)
  }

  /// Returns whether there is a token to which a push for the instance can be sent, whatever the policy says.
  func hasToken(_ instance: InstanceSlot, device: DeviceSlot) -> Bool {
    switch instances[instance].surface {
    case .activity, .starter: return addressed[instance]?.isReachable == true
    case .control: return controlRoute(instance, device: device) == .controlPush(instance)
    case .widget: break
    }
    let flags = devices[device].flags
    if flags.contains(.backgroundToken), !flags.contains(.backgroundTokenDead) { return true }
    return flags.contains(.widgetsToken) && !flags.contains(.widgetsTokenDead)
      && devices[device].osVersion >= widgetPushOS
      && instances[instance].flags.contains(.pushEnabled)
  }

  /// Returns whether an instance counts for the usual demand of its kind: whether it is registered, and has a token to which a
  /// push can be sent. Developer mode is not considered.
  func isCounted(_ instance: InstanceSlot, device: DeviceSlot) -> Bool {
    !instances[instance].flags.contains(.retired) && hasToken(instance, device: device)
  }

  /// Returns the surface of a decision about the instance.
  @inline(__always)
  func surface(of instance: InstanceSlot, route: Route) -> Surface {
    switch instances[instance].surface {
    case .widget: route == .backgroundPush ? .background : .widget
    case .control: .control
    case .activity, .starter: addressed[instance]?.isChannel == true ? .broadcast : .liveActivity
    }
  }

  /// Returns the tokens to which pushes for a device are sent, in lower case.
  func pushTokens(of device: DeviceSlot) -> [String] {
    let pair = tokens(of: device)
    var tokens: [String] = []
    if let token = pair.widgets { tokens.append(token) }
    if let token = pair.background { tokens.append(token) }
    var walk = instances(of: device)
    while let instance = walk.next(self) {
      if let token = ownToken(of: instance) { tokens.append(token) }
    }
    return tokens
  }

  /// Returns the token that an instance does not share with its device; nil if it has none.
  private func ownToken(of instance: InstanceSlot) -> String? {
    let state = instances[instance]
    guard state.surface != .widget, !state.flags.contains(.retired), let address = addressed[instance],
      !address.isChannel, !address.token.isEmpty
    else { return nil }
    return address.token
  }

  /// Returns the widgets of a device, retired ones included.
  func widgets(of device: DeviceSlot) -> [InstanceSlot] {
    var found: [InstanceSlot] = []
    var walk = instances(of: device)
    while let instance = walk.next(self) {
      if instances[instance].surface == .widget { found.append(instance) }
    }
    return found
  }

  /// Returns the start of the newest activity of a kind on a device.
  func newestActivity(of kind: KindSlot, on device: DeviceSlot) -> Timestamp {
    var newest = Timestamp.distantPast
    var walk = instances(of: device)
    while let instance = walk.next(self) {
      let state = instances[instance]
      guard state.surface == .activity, state.kind == kind, let address = addressed[instance] else { continue }
      newest = max(newest, address.startedAt)
    }
    return newest
  }
}
