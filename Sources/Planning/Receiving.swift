import Domain

extension Planner {
  /// A signal from a device or from the sender. Signals about unknown devices and instances change nothing.
  mutating func receive(_ signal: Signal, into output: inout PlannerOutput) {
    guard let slot = device(named: signal.device), !devices[slot].flags.contains(.forgotten) else { return }
    switch signal.kind {
    case .appForegrounded:
      noteLook(device: slot, at: signal.time.microseconds)
      let since = min(now, signal.time.microseconds)
      // One that comes late is history: for all that is known the app was left since.
      guard now &- since < bounds.foregroundMax else { return }
      devices[slot].flags.insert(.foreground)
      changeRare(slot) { $0.foregroundSince = since }
      freshen(device: slot, instance: nil, reloadedAt: nil, into: &output)
    case .appBackgrounded:
      // Told late, of a time before the app came to the foreground again.
      if devices[slot].flags.contains(.foreground), signal.time.microseconds < rare(slot).foregroundSince { return }
      devices[slot].flags.remove(.foreground)
      changeRare(slot) { $0.foregroundSince = 0 }
      freshen(device: slot, instance: nil, reloadedAt: nil, into: &output)
    case .widgetFetched(let instance):
      freshen(device: slot, instance: instance, reloadedAt: min(now, signal.time.microseconds), into: &output)
    case .tokenRejected(let token):
      if tokens(slot).widgets == token { devices[slot].flags.insert(.widgetsTokenDead) }
      if tokens(slot).background == token { devices[slot].flags.insert(.backgroundTokenDead) }
      reject(token: token, device: slot)
    case .deliveryCompleted(let command, let outcome):
      if outcome != .accepted { refund(command, device: slot) }
    case .activityEnded(let id), .activityDismissed(let id): close(activity: id, device: slot)
    case .widgetViewed:
      noteLook(device: slot, at: signal.time.microseconds)
      return
    case .activityStarted:
      // It says more when it registers its token.
      return
    }
    touch(device: slot)
  }

  private mutating func reject(token: String, device slot: UInt32) {
    var instance = devices[slot].firstInstance
    while instance != none {
      if addressed[instance]?.token == token { addressed[instance]?.tokenDead = true }
      instance = instances[instance].next
    }
  }

  private mutating func close(activity id: String, device slot: UInt32) {
    guard let instance = find(instance: id, device: slot), addressed[instance] != nil else { return }
    addressed[instance]?.ended = true
    clearDue(instance)
  }

  /// The instances show the newest content: nothing that came before waits any more.
  /// - Parameter reloadedAt: when they fetched, which counts for the minimum interval; nil: now, and free of it.
  private mutating func freshen(
    device slot: UInt32, instance id: String?, reloadedAt: Int64?, into output: inout PlannerOutput
  ) {
    let wanted = id.map { instanceIDs.number(of: $0, in: texts) }
    var instance = devices[slot].firstInstance
    while instance != none {
      if !instances[instance].flags.contains(.retired), instances[instance].surface == .widget,
        wanted == nil || wanted == instances[instance].id
      {
        let fetchedAt = reloadedAt ?? now
        endCauses(of: instance, reason: .freshened, into: &output) { $0.at <= fetchedAt }
        if waiting(instance).firstCause == none { clearDue(instance) }
        markFresh(instance)
        forgetShown(instance)
        if let reloadedAt { instances[instance].lastReload = max(instances[instance].lastReload, reloadedAt) }
      }
      instance = instances[instance].next
    }
  }

  /// What still waits came after the fetch, so what the instance shows of those keys is not known.
  private mutating func forgetShown(_ instance: UInt32) {
    var cause = waiting(instance).firstCause
    while cause != none {
      if causes[cause].entry != none { entries[causes[cause].entry].shown = 0 }
      cause = causes[cause].next
    }
  }

  /// Gives back what the device's last command was charged, once; an older command's charge stands, because what it
  /// blocked since cannot be made good.
  private mutating func refund(_ command: String, device slot: UInt32) {
    let last = Planner.commandID(
      partition: partition, offset: devices[slot].commandOffset, ordinal: devices[slot].commandOrdinal)
    // After a change of policy a token may be worth another stretch of time: what was charged before stands.
    guard devices[slot].commandOffset > policyOffset, command == last else { return }
    devices[slot].commandOffset = -1
    var control: UInt32?
    var instance = devices[slot].firstInstance
    while instance != none {
      if instances[instance].flags.contains(.chargedByLast) {
        instances[instance].flags.remove(.chargedByLast)
        if instances[instance].surface == .control { control = instance }
        if now < instances[instance].windowEnd, instances[instance].spent > 0 { instances[instance].spent -= 1 }
        if rollingCharges[instance]?.isEmpty == false { rollingCharges[instance]?.removeLast() }
      }
      instance = instances[instance].next
    }
    switch devices[slot].commandRoute {
    case 1: backgroundRate.refund(tat: &devices[slot].backgroundTAT)
    case 2: if let control { controlRate.refund(tat: &addressed[control, default: AddressedState()].tat) }
    default: pushRate.refund(tat: &devices[slot].pushTAT)
    }
    refundApp(devices[slot].app)
  }
}
