/// A push that may be made to a device. All that follows from it is asked about this value: which instances it reaches, what it costs
/// and what it is worth.
struct PushQuestion {
  var device: DeviceSlot
  /// The instance with which the push is weighed: one on which an event waits, or `catchingUp`. It is
  /// among those that a push reaches if it is made.
  var trigger: InstanceSlot
  var route: Route
  var named = NamedKinds.waiting
  /// The instance that is examined although no event waits on it, because its screen is wrong; absent if an event leads to the push.
  /// Beside it, the trigger may be an instance on which an event waits for the same background push (`Fleet.catchUp`).
  var catchingUp = InstanceSlot.absent

  /// A choice of kinds for a background push, which reloads only the kinds that it names.
  enum NamedKinds {
    /// The kinds on which events wait, and that of `catchingUp`.
    case waiting
    /// Those of `waiting`, and the kinds of screens that are wrong although no event waits, and whose examination is due.
    case waitingAndWrong
    /// The kind of `catchingUp` alone.
    case catchingUp
  }
}
