/// A push that may be made to a device. All that follows from it is asked about this value: which instances it reaches, what it costs
/// and what it is worth.
struct PushQuestion {
  var device: DeviceSlot
  /// The instance that leads to the push.
  var trigger: InstanceSlot
  var route: Route
  var named = NamedKinds.waiting
  /// The instance that is examined although no event waits on it, because its screen is wrong; absent if there is none.
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
