import Domain

/// The verdict on a push to a device. Computing it changes nothing; `Fleet.apply` carries it out.
struct Examination {
  let question: PushQuestion
  var outcome = Outcome.push
  var weighing = Weighing()

  var route: Route { question.route }

  enum Outcome {
    /// A push is made now.
    case push
    /// The causes that wait on the trigger end with this reason.
    case end(Reason)
    /// The push is held back. `weighing` has the reason, and the time at which that reason no longer holds.
    case hold
  }
}
