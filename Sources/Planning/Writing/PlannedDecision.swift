package import Domain

/// One decision of a step, as references into the planner's tables.
package struct PlannedDecision {
  /// The event, or the newest of the merged events.
  package var event: EventSlot
  /// The instance that the decision is about.
  package var instance: InstanceSlot
  /// The kind of the instance at the time of the decision. A registration may change it within the same step.
  package var kind = KindSlot.absent
  /// The index of the command in `PlannerOutput.commands`; −1 when there is none. A command of an earlier step has its place
  /// below that (`PlannerOutput.place(ofEarlier:)`).
  package var command: Int32 = -1
  /// The index of the first merged event in `PlannerOutput.causes`.
  package var causesStart: UInt32 = 0
  /// The number of merged events; 0 or 1 when the decision is about `event` alone.
  package var causesCount: UInt32 = 0
  /// The last part of the decision's id.
  package var ordinal: UInt32 = 0
  /// The verdict: `emit`, `defer`, `coalesce` or `suppress`.
  package var verdict: Verdict
  /// The reason of the decision.
  package var reason: Reason
  /// Whether no further decision about the event and the instance follows. A duplicate is not final: the final decision belongs to
  /// the first delivery of the event.
  package var final: Bool { verdict != .defer && reason != .duplicate }
  /// The surface of the push that was made or considered.
  package var surface = Surface.widget
  /// The result against the objective of the kind; nil if the decision does not count for it.
  package var objective: ObjectiveResult?
  /// The relevance of the event, 0 to 1.
  package var relevance: Float
  /// D, how wrong the instance's screen was when a push was weighed, 0 to 1; 0 when none was weighed.
  package var wrong: Float = 0
  /// V, the looks at the instance that are expected in the next 20 minutes; 0 when no push was weighed.
  package var looks: Float = 0
  /// ΣW, the worth of the push that was weighed, in looks, over all instances that it reloads; 0 when none was weighed.
  package var value: Float = 0
  /// Σλ + μ, the price of the push that was weighed, in looks; 0 when none was weighed.
  package var price: Float = 0
  /// The tokens left to the instance when the decision was made; −1 when it has no limit.
  package var leftInstance: Int32 = -1
  /// The tokens left to the device in the rate of that sort of push; −1 when it has no limit.
  package var leftDevice: Int32 = -1
  /// The tokens left to the app in this partition today; −1 when it has no limit.
  package var leftApp: Int32 = -1
  /// The latest time of the next examination; the distant future when there is none.
  package var until = Timestamp.distantFuture

  /// Creates a decision without a command and without a push that was weighed. `Fleet.report` adds its number, the kind, the surface and
  /// the tokens left.
  package init(
    about event: EventSlot, on instance: InstanceSlot, _ verdict: Verdict, _ reason: Reason, relevance: Float,
    objective: ObjectiveResult? = nil
  ) {
    (self.event, self.instance, self.verdict, self.reason) = (event, instance, verdict, reason)
    (self.relevance, self.objective) = (relevance, objective)
  }

  /// Notes the push that was weighed.
  /// - Parameters:
  ///   - weighing: The worth and the price.
  ///   - distance: D, how wrong the instance's screen was, 0…1.
  ///   - looks: V, the looks at the instance that are expected in the next 20 minutes.
  mutating func note(_ weighing: Weighing, distance: Double, looks: Double) {
    (wrong, self.looks) = (Float(distance), Float(looks))
    (value, price) = (Float(weighing.worth), Float(weighing.price))
  }
}
