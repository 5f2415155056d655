package import Domain

/// One decision of a step, as references into the planner's tables.
package struct PlannedDecision {
  /// The event, or the newest of the merged events.
  package var event: EventSlot
  /// The instance that the decision is about.
  package var instance: InstanceSlot
  /// The kind of the instance at the time of the decision. A registration may change it within the same step.
  package var kind: KindSlot
  /// The index of the command in `PlannerOutput.commands`; −1 when there is none. A command of an earlier step has its place
  /// below that (`PlannerOutput.place(ofEarlier:)`).
  package var command: Int32
  /// The index of the first merged event in `PlannerOutput.causes`.
  package var causesStart: UInt32
  /// The number of merged events; 0 or 1 when the decision is about `event` alone.
  package var causesCount: UInt32
  /// The last part of the decision's id.
  package var ordinal: UInt32
  /// The verdict: `emit`, `defer`, `coalesce` or `suppress`.
  package var verdict: Verdict
  /// The reason of the decision.
  package var reason: Reason
  /// Whether no further decision about the event and the instance follows.
  package var final: Bool
  /// The surface of the push that was made or considered.
  package var surface: Surface
  /// The result against the objective of the kind; nil if the decision does not count for it.
  package var objective: ObjectiveResult?
  /// The relevance of the event, 0 to 1.
  package var relevance: Float
  /// D, how wrong the instance's screen was when a push was weighed, 0 to 1; 0 when none was weighed.
  package var wrong: Float
  /// V, the looks at the instance that are expected in the next 20 minutes; 0 when no push was weighed.
  package var looks: Float
  /// ΣW, the worth of the push that was weighed, in looks, over all instances that it reloads; 0 when none was weighed.
  package var value: Float
  /// Σλ + μ, the price of the push that was weighed, in looks; 0 when none was weighed.
  package var price: Float
  /// The tokens left to the instance when the decision was made; −1 when it has no limit.
  package var leftInstance: Int32
  /// The tokens left to the device in the rate of that sort of push; −1 when it has no limit.
  package var leftDevice: Int32
  /// The tokens left to the app in this partition today; −1 when it has no limit.
  package var leftApp: Int32
  /// The latest time of the next examination; the distant future when there is none.
  package var until: Timestamp
}
