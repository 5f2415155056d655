import Domain

/// The verdict on a push to a device. Computing it changes nothing; `Planner.apply(_:device:trigger:fromTimer:into:)`
/// carries it out.
struct Examination {
  var outcome: Outcome
  var route: Route
  var weighing = Weighing()

  enum Outcome {
    /// A push goes out now.
    case push
    /// What waits on the trigger ends for this reason.
    case end(Reason)
    /// The weighing names the limit that holds and when it lets go.
    case hold
  }
}
