import Domain
import Policies

/// Answers of APNs to pushes to Live Activities and to push-to-start tokens.
extension Fleet {
  /// The delays between a refusal and the next push of what the activity should show: longer with each refusal in a row.
  private static let retryDelays: [TimeSpan] = [
    .seconds(30), .minutes(1), .minutes(2), .minutes(5), .minutes(15), .minutes(30), .hours(1),
  ]
  /// The number of refusals without a status after which the same is given up.
  private static let refusalsWithoutStatusMax = 3

  /// Takes in what APNs answered to a push to an activity, or to a start.
  ///
  /// A start that was not taken has not started anything. An update or an end that was not taken is owed: it is sent again with what is
  /// known then, later and later; unless APNs would refuse it for good, or the token is dead, whose successor is answered.
  /// - Parameters:
  ///   - command: The id of the command.
  ///   - device: The device, or the pseudo-device of a broadcast channel.
  ///   - outcome: The end of its delivery.
  ///   - answer: What APNs answered.
  /// - Returns: Whether the command was such a push, and its answer was awaited.
  mutating func settleActivityPush(
    _ command: Identifier, _ device: DeviceSlot, _ outcome: Signal.DeliveryOutcome, _ answer: Signal.APNsAnswer
  ) -> Bool {
    var walk = registry.instances(of: device)
    while let instance = walk.next(registry) {
      guard registry.instances[instance].surface.isActivity, let state = registry.addressed[instance] else { continue }
      if let push = state.unanswered, isCommand(push, command) {
        if outcome == .accepted {
          registry[addressed: instance]?.noteAccepted()
          if push.isEnd { noteEndTaken(of: instance) }
        } else {
          refund(push, of: instance, device)
          noteRefused(push, by: instance, state, answer)
        }
        return true
      }
      for known in state.subjects {
        guard let start = known.push, isCommand(start, command) else { continue }
        if outcome == .accepted {
          let onChannel = startsOnChannel(instance)
          know(known.subject, by: instance) { $0.noteAccepted(onChannel: onChannel, at: $1) }
        } else {
          refund(start, of: instance, device)
          noteRefused(start, of: known, by: instance, answer)
        }
        return true
      }
    }
    return false
  }

  private func isCommand(_ push: AddressedState.SentPush, _ command: Identifier) -> Bool {
    command == Self.commandID(partition: partition, offset: push.offset, ordinal: push.ordinal)
  }

  private mutating func noteRefused(
    _ push: AddressedState.SentPush, by instance: InstanceSlot, _ state: AddressedState, _ answer: Signal.APNsAnswer
  ) {
    // One that the device does not register any more is pushed no more.
    if registry.instances[instance].flags.contains(.retired) {
      registry[addressed: instance]?.noteRefused(retry: nil)
      return
    }
    defer { setActivityTimer(instance) }
    if answer.isTokenDead {
      registry[addressed: instance]?.noteRefused(retry: nil)
      reject(instance)
      return
    }
    // The refused end of a subject that lives again is followed by an update, not by the same end.
    let isFollowed = push.isEnd && toldSession(of: instance, state)?.isAlive == true
    let isGivenUp =
      !isFollowed && (answer.isForGood || answer.status == nil && state.refusals + 1 >= Self.refusalsWithoutStatusMax)
    let delay = Self.retryDelays[min(Int(state.refusals), Self.retryDelays.count - 1)]
    registry[addressed: instance]?.noteRefused(retry: isGivenUp ? nil : now + delay)
    if !push.isEnd { markUnknown(instance) }
  }

  /// Notes that APNs did not take a start. It is tried again later, as long as the subject wants it.
  private mutating func noteRefused(
    _ start: AddressedState.SentPush, of known: SubjectActivity, by starter: InstanceSlot, _ answer: Signal.APNsAnswer
  ) {
    if answer.isTokenDead, !start.isToOldToken { reject(starter) }
    let isGivenUp =
      answer.isForGood
      || !answer.isTokenDead && answer.status == nil && known.refusals + 1 >= Self.refusalsWithoutStatusMax
    know(known.subject, by: starter) { $0.noteRefused(isForGood: isGivenUp, at: $1) }
    if answer.isTokenDead, !start.isToOldToken || isGivenUp { return }
    owe(startAt: now + Self.retryDelays[min(Int(known.refusals), Self.retryDelays.count - 1)], by: starter)
  }

  /// Notes that the token of an activity, or of starts, is dead.
  private mutating func reject(_ instance: InstanceSlot) {
    let device = registry.instances[instance].device
    countInstances(of: device, by: -1)
    registry[addressed: instance]?.reject()
    countInstances(of: device, by: 1)
  }

  /// Gives back what a push has cost, within the bounds of refunds.
  private mutating func refund(_ push: AddressedState.SentPush, of instance: InstanceSlot, _ device: DeviceSlot) {
    // One from before the policy in force is not refunded, because a token may stand for another span of time now.
    guard push.offset > rules.offset, !registry.isInDeveloperMode(device) else { return }
    guard allowsRefund(device) else { return outcomes.noteRefusedRefund() }
    registry.noteRefund(device, now: now)
    if push.isCharged {
      if registry.instances[instance].surface == .starter {
        ledgers.activityStarts.refund(&registry[startRate: device])
      } else {
        let rate = ledgers.activityRate(frequentPushes: push.isFrequent)
        var state = registry[ownRate: instance]
        rate.refund(&state)
        registry[ownRate: instance] = state
      }
    }
    if push.isAppCharged { ledgers.apps.refund(registry.devices[device].app, chargedAt: push.offset, now: now) }
  }
}
