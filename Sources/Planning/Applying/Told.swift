import Domain

/// What a decision says, before the ledgers are added.
struct Told {
  var instance: InstanceSlot
  var event: EventSlot
  var verdict: Verdict
  var reason: Reason
  var relevance: Float
  var weighing = Weighing()
  /// The route by which the device was weighed; nil where it was not.
  var route: Route?
  /// The latest instant of the next examination, for a decision that defers.
  var until = Timestamp.distantFuture
  /// The index of the command in the output; −1 where there is none.
  var command = -1
  /// The events that the command delivers to the instance, as places in `PlannerOutput.causes`.
  var causes = 0..<0
}
