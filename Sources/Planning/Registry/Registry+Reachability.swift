import Domain

/// The first iOS with control pushes. Source: Apple's ControlPushHandler page. macOS and watchOS have them since version 26, and
/// only from then on can their apps register a token for a control.
private let controlPushOS = OSVersion(major: 18)

/// By which tokens a device and its instances can be reached, and what they show.
extension Registry {
  /// Returns whether a device is in developer mode, in which pushes are free.
  @inline(__always)
  func isInDeveloperMode(_ device: DeviceSlot) -> Bool {
    devices[device].flags.contains(.developerMode)
  }

  /// Returns the route to a control, which only its own token is.
  func controlRoute(_ instance: InstanceSlot, device: DeviceSlot) -> Route {
    if devices[device].osVersion < controlPushOS { return .unreachable(.unsupportedOS) }
    guard let control = addressed[instance] else { return .unreachable(.noToken) }
    if control.hasLostToken { return .unreachable(.noToken) }
    return control.tokenDead ? .unreachable(.tokenDead) : .controlPush(instance)
  }

  /// Returns whether there is a token to which a push for the instance can be sent, whatever the policy says.
  func hasToken(_ instance: InstanceSlot, device: DeviceSlot) -> Bool {
    switch instances[instance].surface {
    case .activity, .starter: return addressed[instance]?.tokenDead == false
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

  /// Compares what an entry shows with what it would show after the event.
  /// - Parameters:
  ///   - displayed: The event's change; nil when the policy does not list the displayed fields of the kind.
  ///   - entry: The interest entry.
  /// - Returns: Whether both look the same, and the new fingerprint; nil when the event does not change it.
  @inline(__always)
  func compare(_ displayed: DisplayedChange?, _ entry: EntrySlot) -> (isShown: Bool, current: KeyedHash?) {
    guard let displayed else { return (false, nil) }
    let known = entries[entry]
    let current = displayed.applied(to: known.current)
    return (!known.shown.isNone && known.shown == current, current == known.current ? nil : current)
  }

  /// Returns the relevance of a waiting cause, 0…1: the one that its rule states. If the rule states none, it is how wrong the
  /// screen is about the cause's subject now; for news, whose subject is not tracked field by field, it is the relevance at
  /// arrival.
  @inline(__always)
  func relevance(of cause: Cause) -> Float {
    if cause.isRelevanceStated || cause.entry.isAbsent || entries[cause.entry].row.isAbsent {
      return cause.relevance
    }
    return entries[cause.entry].distance
  }
}
