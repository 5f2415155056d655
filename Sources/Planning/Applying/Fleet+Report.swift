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
  @inline(__always)
  mutating func suppress(
    _ event: borrowing EventInHand, _ instance: InstanceSlot, _ reason: Reason, _ relevance: Float,
    lane: ActivityVerdict.Lane = .init(),
    into output: inout PlannerOutput
  ) {
    var decision = PlannedDecision(about: event.slot, on: instance, .suppress, reason, relevance: relevance)
    decision.note(lane.weighing, distance: lane.distance, looks: lane.looks)
    report(decision, into: &output)
  }

  /// Adds a decision to the output, with its number and the tokens that the ledgers hold now. The instance's day must be up to date.
  /// - Parameters:
  ///   - decision: The decision.
  ///   - examined: The route of the push that was examined; nil if none was.
  ///   - output: Receives the decision.
  @inline(__always)
  mutating func report(
    _ decision: PlannedDecision, examined: Route? = nil, into output: inout PlannerOutput
  ) {
    var decision = decision
    let state = registry.instances[decision.instance]
    assert(
      state.day.isUpToDate(rules[state.kind].day, now: now), "a decision counts the tokens of a day that is over")
    let route = examined ?? self.route(of: decision.instance, device: state.device)
    (decision.kind, decision.ordinal) = (state.kind, record.takeOrdinal())
    decision.surface = registry.surface(of: decision.instance, route: route)
    (decision.leftInstance, decision.leftDevice) = ledgersLeft(decision.instance, state.device, route)
    decision.leftApp = Int32(ledgers.apps.tokensLeft(registry.devices[state.device].app, now: now))
    output.decisions.append(decision)
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
