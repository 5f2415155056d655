import Domain
import Policies

extension Fleet {
  /// Applies a signal from a device or from the sender. Signals about unknown devices and instances change nothing.
  mutating func receive(_ signal: Signal, into output: inout PlannerOutput) {
    guard let device = registry.device(named: signal.device),
      !registry.devices[device].flags.contains(.forgotten)
    else { return }
    switch signal.kind {
    case .appForegrounded:
      noteLook(device, at: signal.time)
      let since = min(now, signal.time)
      // A late signal is ignored: the person has probably left the app since.
      guard now - since < bounds.foregroundMax else { return }
      registry.set(foregroundSince: since, of: device)
      registry.forgetShownBefore(device)
      freshen(device, instance: nil, asOf: now, isReload: false, into: &output)
    case .appBackgrounded:
      // A late signal is ignored when the app has come to the foreground again since.
      if let since = registry.foregroundSince(device), signal.time < since { return }
      registry.set(foregroundSince: nil, of: device)
      let changes = registry.rare(device).shownBefore
      registry.forgetShownBefore(device)
      freshen(
        device, instance: nil, asOf: min(now, signal.time), isReload: false, changes: changes, into: &output)
    case .widgetFetched(let instance, let cause):
      let instant = min(now, signal.time)
      freshen(device, instance: instance, asOf: instant, isReload: true, cause: cause, into: &output)
    case .tokenRejected(let token):
      countInstances(of: device, by: -1)
      registry.reject(token: token, of: device)
      countInstances(of: device, by: 1)
    case .deliveryCompleted(let command, let outcome, let answer):
      if settleActivityPush(command, device, outcome, answer) { break }
      if outcome != .accepted { refund(command, device) }
    case .activityEnded(let activity): close(activity, device, .ended(at: min(now, signal.time)))
    case .activityDismissed(let activity): close(activity, device, .dismissed(at: min(now, signal.time)))
    case .activityStarted(let activity): noteStarted(activity, device, at: min(now, signal.time))
    case .widgetViewed:
      noteLook(device, at: signal.time)
      return
    }
    touch(device)
  }

  /// Notes that the device has reported an activity as over. A person who removes one that has ended only clears the screen.
  private mutating func close(_ activity: Signal.ReportedActivity, _ device: DeviceSlot, _ life: ActivityLife) {
    let instant = life.overSince ?? now
    // The clock of the device may be slow.
    let served = min(now, instant + ActivityTimes.clockError)
    let instance = registry.find(activity.instance, of: device)
    let state = instance.flatMap { registry.addressed[$0] }
    let wasOver = if case .ended = state?.life { true } else { false }
    if let instance, let state, !registry.instances[instance].flags.contains(.retired) {
      let clears = isOver(toldSession(of: instance, state), since: state.startedAt, by: instant)
      registry[addressed: instance]?.close()
      pending.clearDue(&registry[waiting: instance])
      if wasOver { return }
      keepStarter(of: instance)
      noteOver(instance, clears ? .ended(at: instant) : life, served: served)
    } else if !wasOver, let kind = activity.kind, let subject = activity.subject,
      let starter = starter(of: activity, device)
    {
      let begun = state?.startedAt ?? registry.addressed[starter]?.activity(of: subject)?.begun ?? .distantPast
      let clears = isOver(content(of: subject)?.session(kind), since: begun, by: instant)
      noteOver(subject, clears ? .ended(at: instant) : life, startedAt: state?.startedAt, served: served, by: starter)
    }
  }

  /// Returns whether a person who removes an activity only clears it, because its subject is over: APNs may not have told it of the end.
  private func isOver(_ session: KnownContent.Session?, since start: Timestamp, by instant: Timestamp) -> Bool {
    session.map { $0.isOver && start <= $0.end && $0.end <= instant } ?? false
  }

  /// Notes that an activity has begun that the device has not registered yet, so that no second one is started.
  private mutating func noteStarted(_ activity: Signal.ReportedActivity, _ device: DeviceSlot, at instant: Timestamp) {
    guard let subject = activity.subject, let starter = starter(of: activity, device) else { return }
    // An app may use the id of an earlier activity again.
    if let known = registry.find(activity.instance, of: device),
      !registry.instances[known].flags.contains(.retired)
        || registry.addressed[known].map({ instant - ActivityTimes.clockError <= $0.startedAt }) == true
    {
      return
    }
    let life = registry.addressed[starter]?.activity(of: subject)?.life(at: now) ?? .notStarted
    // The device may have said already that it is over.
    if life.overSince.map({ instant <= $0 }) == true { return }
    let running = startsOnChannel(starter) ? ActivityLife.running(onChannel: true) : .awaitingToken
    know(subject, by: starter) { known, now in
      if life.isOnScreen { known.isKept = true } else { known.run(running, startedAt: instant, at: now) }
    }
  }

  private func starter(of activity: Signal.ReportedActivity, _ device: DeviceSlot) -> InstanceSlot? {
    activity.kind.flatMap { registry.find(Registration.starterID(kind: $0), of: device) }
  }

  /// Notes that instances showed what was known at an instant, and ends the causes that they have shown.
  /// - Parameters:
  ///   - device: The device.
  ///   - id: The id of the instance; nil for every widget of the device.
  ///   - instant: The log time up to which they showed everything. A signal may come late.
  ///   - isReload: Whether the minimum interval counts from that instant, and the reload may cost a token.
  ///   - cause: The stated cause of a reload; nil if none is stated.
  ///   - changes: The changes that counted as shown because the app counted as in the foreground. Those after `instant` were not
  ///     shown.
  ///   - output: Receives the decisions.
  private mutating func freshen(
    _ device: DeviceSlot, instance id: Identifier?, asOf instant: Timestamp, isReload: Bool,
    cause: Signal.FetchCause? = nil, changes: [ShownBefore] = [], into output: inout PlannerOutput
  ) {
    let wanted = id.map { registry.number(ofInstanceID: $0) }
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      let state = registry.instances[instance]
      guard !state.flags.contains(.retired), state.surface == .widget, wanted == nil || wanted == state.id
      else { continue }
      markFresh(instance, asOf: instant)
      let isWorthPush = !changes.isEmpty && setBack(instance, changes, asOf: instant)
      if isReload { noteFetch(instance, at: instant) }
      if isReload { chargeFetch(instance, at: instant, cause: cause) }
      if isReload { registry.noteReload(instance, notBefore: instant) }
      endShown(of: instance, asOf: instant, into: &output)
      // A screen that is still wrong is examined at the time that was set for what waited.
      if !hasPending(instance), registry.difference(of: instance).value == 0 {
        pending.clearDue(&registry[waiting: instance])
      }
      // The events that changed the screen have ended.
      if isWorthPush { catchUp(instance, at: now) }
    }
  }

  /// Takes in that the device's last command did not arrive: its screens show what they showed before, and its charges are refunded,
  /// once. An older command is not refunded, because its charges may have held back later pushes. One beyond the bounds of refunds
  /// counts as delivered.
  private mutating func refund(_ command: Identifier, _ device: DeviceSlot) {
    let last = registry.devices[device].lastCommand
    let id = Self.commandID(partition: partition, offset: last.offset, ordinal: last.ordinal)
    // A command from before the policy in force is not refunded, because a token may stand for another span of time now.
    guard last.offset > rules.offset, command == id else { return }
    registry[lastCommand: device].settle()
    guard allowsRefund(device) else { return outcomes.noteRefusedRefund() }
    let pushedAt = registry.devices[device].surplus.at
    assert(last.offset < record.offset, "a report comes behind the push that it is about")
    var control: InstanceSlot?
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      guard registry.instances[instance].day.chargedByLast else { continue }
      markUnknown(instance)
      registry.set(.awaitsPush, false, instance)
      catchUpAfterRefund(instance)
      if registry.instances[instance].surface == .control { control = instance }
      refund(instance)
      registry.refundInterval(instance, pushedAt: pushedAt, rules[registry.instances[instance].kind].minInterval)
    }
    registry.noteRefund(device, now: now)
    assert(registry.rare(device).refunds(now: now).count <= rules.deviceRefundsMax, "refunds of a device are bounded")
    let route: Route =
      switch last.rate {
      case .widgetPushes: .widgetPush
      case .backgroundPushes: .backgroundPush
      case .controlPushes: control.map { .controlPush($0) } ?? .unreachable(.noToken)
      }
    registry.refundSurplus(last.rate, device)
    if last.rate == route.rate { ledgers.rate(last.rate).refund(&registry[rate: route, device]) }
    ledgers.apps.refund(registry.devices[device].app, chargedAt: last.offset, now: now)
  }

  /// Returns whether one more command of a device may count as not delivered. Whoever may report failures could otherwise take any
  /// number of pushes out of the books, and have every screen pushed again as soon as it may be.
  func allowsRefund(_ device: DeviceSlot) -> Bool {
    let app = registry.devices[device].app
    let limit = rules.appRefundLimit(ledgers.apps[app].id, partition: partition, of: partitionCount)
    return registry.rare(device).refunds(now: now).count < rules.deviceRefundsMax
      && (limit < 0 || ledgers.apps.refunds(app, now: now) < limit)
  }

  // MARK: Views

  /// The largest age of a signal that counts as a view. An older one may have been sent from another time zone.
  /// - Beyond: the device's habits learn nothing from the signal.
  private static let lookAgeMax = TimeSpan.hours(24)

  /// Adds a look at the device to its view habits: the local hours at which people look.
  private mutating func noteLook(_ device: DeviceSlot, at time: Timestamp) {
    guard !registry.isInDeveloperMode(device), now - time <= Self.lookAgeMax else { return }
    let local = min(now, time) + zones.offset(registry.devices[device].zone)
    let hour = max(0, local.microseconds) / LocalZone.hour.microseconds
    guard pricing.noteLook(device, localHour: hour) else { return }
    registry.noteHabits(device)
    touch(device)
  }
}
