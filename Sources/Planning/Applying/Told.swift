import Domain

/// The content of a decision, without the tokens left, which `Fleet.report` adds.
struct Told {
  var instance: InstanceSlot
  var event: EventSlot
  var verdict: Verdict
  var reason: Reason
  var relevance: Float
  var weighing = Weighing()
  /// D, how wrong the instance's screen was when a push was weighed, 0…1; 0 when none was weighed.
  var distance = 0.0
  /// V, the looks at the instance that are expected in the next 20 minutes; 0 when no push was weighed.
  var looks = 0.0
  /// The route that the device's examination used; nil when the device was not examined.
  var route: Route?
  /// The latest time of the next examination, for a decision that defers; the distant future otherwise.
  var until = Timestamp.distantFuture
  /// The place of the command, as in `PlannedDecision.command`; −1 when there is none.
  var command = -1
  /// The result against the objective of the kind; nil if the decision does not count for it.
  var objective: ObjectiveResult?
  /// The events that the command delivers to the instance, as indices in `PlannerOutput.causes`.
  var causes = 0..<0
}
