import Domain
import Policies

extension Fleet {
  /// Reports a decision that suppresses an event for an instance.
  /// - Parameters:
  ///   - event: The event.
  ///   - instance: The instance.
  ///   - reason: The reason.
  ///   - relevance: The relevance of the event for the instance.
  ///   - lane: The weighing of a Live Activity push; the default if none was weighed.
  ///   - output: Receives the decision.
  mutating func suppress(
    _ event: borrowing EventInHand, _ instance: InstanceSlot, _ reason: Reason, _ relevance: Float,
    lane: ActivityVerdict.Lane = .init(),
    into output: inout PlannerOutput
  ) {
    report(
      Told(
        instance: instance, event: event.slot, verdict: .suppress, reason: reason,
        relevance: relevance,
        weighing: lane.weighing, distance: lane.distance, looks: lane.looks),
      into: &output)
  }

  /// Adds a decision to the output, with the tokens that the ledgers hold now. The instance's day must be up to date.
  @inline(__always)
  mutating func report(_ told: Told, into output: inout PlannerOutput) {
    let state = registry.instances[told.instance]
    assert(
      state.day.isUpToDate(rules[state.kind].day, now: now), "a decision counts the tokens of a day that is over")
    let route = told.route ?? self.route(of: told.instance, device: state.device)
    let left = ledgersLeft(told.instance, state.device, route)
    output.decisions.append(
      PlannedDecision(
        event: told.event, instance: told.instance, kind: state.kind, command: Int32(told.command),
        causesStart: UInt32(told.causes.lowerBound), causesCount: UInt32(told.causes.count),
        ordinal: record.takeOrdinal(), verdict: told.verdict, reason: told.reason,
        // A duplicate is not final: the final decision belongs to the first delivery of the event.
        final: told.verdict != .defer && told.reason != .duplicate,
        surface: registry.surface(of: told.instance, route: route),
        objective: told.objective, relevance: told.relevance, wrong: Float(told.distance), looks: Float(told.looks),
        value: Float(told.weighing.worth), price: Float(told.weighing.price),
        leftInstance: left.instance, leftDevice: left.device,
        leftApp: Int32(ledgers.apps.tokensLeft(registry.devices[state.device].app, now: now)), until: told.until))
  }

  /// Returns the tokens that an instance has left today. Its day must be up to date.
  @inline(__always)
  func tokensLeft(_ instance: InstanceSlot) -> Int {
    let state = registry.instances[instance]
    return ledgers.tokensLeft(state.day, of: instance, rules[state.kind].day, now: now)
  }

  /// Returns the tokens left in the ledgers that apply to an instance; −1 where there is no ledger or no limit.
  @inline(__always)
  private func ledgersLeft(
    _ instance: InstanceSlot, _ device: DeviceSlot, _ route: Route
  ) -> (instance: Int32, device: Int32) {
    switch registry.instances[instance].surface {
    case .widget:
      let left = ledgers.rate(route.rate).tokensLeft(registry[rate: route, device], now: now)
      return (Int32(tokensLeft(instance)), Int32(left))
    case .control:
      let state = registry.addressed[instance] ?? AddressedState()
      let left = ledgers.rate(.controlPushes).tokensLeft(state.rate, now: now)
      return (Int32(left < 0 ? tokensLeft(instance) : min(tokensLeft(instance), left)), -1)
    case .activity:
      let state = registry.addressed[instance] ?? AddressedState()
      if state.isChannel { return (-1, -1) }
      let rate = ledgers.activityRate(frequentPushes: state.frequentPushes)
      return (Int32(rate.tokensLeft(state.rate, now: now)), -1)
    case .starter: return (-1, Int32(ledgers.activityStarts.tokensLeft(registry[startRate: device], now: now)))
    }
  }
}
