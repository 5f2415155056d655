import Domain

extension Planner {
  /// Takes over a signal from a device or from the sender. Signals about unknown devices and instances change nothing.
  mutating func receive(_ signal: Signal, into output: inout PlannerOutput) {
    guard let device = registry.device(named: signal.device),
      !registry.devices[device].flags.contains(.forgotten)
    else { return }
    switch signal.kind {
    case .appForegrounded:
      noteLook(device, at: signal.time)
      let since = min(now, signal.time)
      // One that comes late is history: for all that is known the app was left since.
      guard now - since < TimeSpan(microseconds: bounds.foregroundMax) else { return }
      registry.set(foregroundSince: since, of: device)
      freshen(device, instance: nil, reloadedAt: nil, into: &output)
    case .appBackgrounded:
      // Told late, of a time before the app came to the foreground again.
      if let since = registry.foregroundSince(device), signal.time < since { return }
      registry.set(foregroundSince: nil, of: device)
      freshen(device, instance: nil, reloadedAt: nil, into: &output)
    case .widgetFetched(let instance):
      freshen(device, instance: instance, reloadedAt: min(now, signal.time), into: &output)
    case .tokenRejected(let token): registry.reject(token: token, of: device)
    case .deliveryCompleted(let command, let outcome):
      if outcome != .accepted { refund(command, device) }
    case .activityEnded(let id), .activityDismissed(let id): close(activity: id, device)
    case .widgetViewed:
      noteLook(device, at: signal.time)
      return
    case .activityStarted:
      // The device's registration with the activity's token says more.
      return
    }
    touch(device)
  }

  private mutating func close(activity id: String, _ device: DeviceSlot) {
    guard let instance = registry.find(id, of: device), registry.addressed[instance] != nil else { return }
    registry[addressed: instance]?.ended = true
    pending.clearDue(&registry[waiting: instance])
  }

  /// Ends what waits on instances that show the newest content.
  /// - Parameters:
  ///   - id: The instance; nil for every widget of the device.
  ///   - reloadedAt: The time of the fetch, which counts for the minimum interval; nil: now, and free of it.
  private mutating func freshen(
    _ device: DeviceSlot, instance id: String?, reloadedAt: Timestamp?, into output: inout PlannerOutput
  ) {
    let wanted = id.map { registry.number(ofInstanceID: $0) }
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      let state = registry.instances[instance]
      guard !state.flags.contains(.retired), state.surface == .widget, wanted == nil || wanted == state.id
      else { continue }
      let fetchedAt = reloadedAt ?? now
      endCauses(of: instance, .freshened, into: &output) { $0.at <= fetchedAt }
      if !hasPending(instance) { pending.clearDue(&registry[waiting: instance]) }
      registry.markFresh(instance)
      forgetShown(instance)
      if let reloadedAt { registry.noteReload(instance, notBefore: reloadedAt) }
    }
  }

  /// Forgets what the instance shows of keys by which something waits still: that came after the fetch.
  private mutating func forgetShown(_ instance: InstanceSlot) {
    var walk = pending.causes(of: registry.instances[instance].waiting)
    while let cause = walk.next(pending) {
      let entry = pending.causes[cause].entry
      if !entry.isAbsent { registry.forgetShown(entry) }
    }
  }

  /// Gives back what the device's last command was charged, once. An older command's charge stands, because what it blocked
  /// since cannot be made good.
  private mutating func refund(_ command: String, _ device: DeviceSlot) {
    let last = registry.devices[device].lastCommand
    let id = Planner.commandID(partition: partition, offset: last.offset, ordinal: last.ordinal)
    // After a change of policy a token may be worth another stretch of time: what was charged before stands.
    guard last.offset > rules.offset, command == id else { return }
    registry[lastCommand: device].settle()
    var control: InstanceSlot?
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      if ledgers.refund(&registry[day: instance], of: instance, now: now),
        registry.instances[instance].surface == .control
      {
        control = instance
      }
    }
    let route: Route =
      switch last.rate {
      case .widgetPushes: .widgetPush
      case .backgroundPushes: .backgroundPush
      case .controlPushes: control.map { .controlPush($0) } ?? .unreachable(.noToken)
      }
    if last.rate == route.rate { ledgers.rate(last.rate).refund(&registry[rate: route, device]) }
    ledgers.refund(registry.devices[device].app, now: now)
  }

  // MARK: Views

  /// The age from which on a signal says too little about the hour that it names: the device may have been elsewhere.
  private static let lookAgeMax = TimeSpan.hours(24)

  /// Learns that somebody looked at the device.
  private mutating func noteLook(_ device: DeviceSlot, at time: Timestamp) {
    guard !isInDeveloperMode(device), now - time <= Self.lookAgeMax else { return }
    let local = min(now, time) + zones.offset(registry.devices[device].zone)
    let hour = max(0, local.microseconds) / LocalZone.hour.microseconds
    guard pricing.noteLook(device, localHour: hour) else { return }
    registry.noteHabits(device)
    touch(device)
  }
}
