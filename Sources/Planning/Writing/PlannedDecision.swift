package import Domain

/// One decision of a step, as references into the planner's tables.
package struct PlannedDecision {
  package var event: EventSlot
  package var instance: InstanceSlot
  /// The kind of the instance at the time of the decision. A registration may change it within the same step.
  package var kind: KindSlot
  /// The index of the command in `PlannerOutput.commands`; −1 when there is none.
  package var command: Int32
  /// The index of the first merged event in `PlannerOutput.causes`.
  package var causesStart: UInt32
  package var causesCount: UInt32
  /// The last part of the decision's id.
  package var ordinal: UInt32
  package var verdict: Verdict
  package var reason: Reason
  package var final: Bool
  package var surface: Surface
  package var relevance: Float
  package var value: Float
  package var price: Float
  /// The tokens left to the instance; −1 when it has no limit.
  package var leftInstance: Int32
  /// The tokens left to the device; −1 when it has no limit.
  package var leftDevice: Int32
  /// The tokens left to the app; −1 when it has no limit.
  package var leftApp: Int32
  /// The latest time of the next examination; the distant future when there is none.
  package var until: Timestamp
}
