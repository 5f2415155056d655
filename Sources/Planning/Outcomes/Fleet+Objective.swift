import Domain
import Policies

/// Results against the objectives of kinds. They are on decisions, and no decision depends on them.
extension Fleet {
  /// Returns the result of a waiting change that ends; nil if it does not count.
  ///
  /// A change counts when something was to be shown and the planner could show it: it is pushed, the screen is right without it, or it
  /// expires. It does not count when the instance can no longer be reached or is
  /// not decided about, nor on a device in developer mode.
  /// - Parameters:
  ///   - cause: The cause, which is no longer pending.
  ///   - instance: The instance on which it waited.
  ///   - reason: The reason of the final decision.
  func result(of cause: Cause, on instance: InstanceSlot, as reason: Reason) -> ObjectiveResult? {
    guard let objective = rules[registry.instances[instance].kind].objective,
      !registry.isInDeveloperMode(registry.instances[instance].device)
    else { return nil }
    return result(of: cause, objective, as: reason)
  }

  /// Returns the result of a change that the push of its log time shows, too; nil if it does not count.
  @inline(never)
  func resultOfJoining(_ instance: InstanceSlot, relevance: Float) -> ObjectiveResult? {
    if registry.isInDeveloperMode(registry.instances[instance].device) { return nil }
    return rules[registry.instances[instance].kind].objective?.result(relevance: relevance, waited: .zero)
  }

  @inline(never)
  private func result(of cause: Cause, _ objective: FreshnessObjective, as reason: Reason) -> ObjectiveResult? {
    switch reason.outcome {
    case .sent, .sentAlong, .sentFree: break
    case .needless where reason == .freshened || reason == .superseded: break
    case .lost where reason == .expired:
      return objective.counts(relevance: cause.relevance) ? .missed : nil
    case .heldBack, .needless, .lost, .onCommands: return nil
    }
    return objective.result(relevance: cause.relevance, waited: now - cause.at)
  }
}
