/// The sign by which a Live Activity is known to be a zombie: one that runs and that pushes do not update or end.
public enum ZombieSign: String, Sendable, CaseIterable {
  /// A push started it, and the device has not registered it within half an hour.
  case neverRegistered
  /// APNs has permanently refused its token.
  case tokenRejected
  /// APNs has refused its newest push, so it shows something older. It is no zombie any more when APNs has taken another one, or an event is
  /// pushed to it.
  case pushRefused

  /// The words for people.
  public var text: String {
    switch self {
    case .neverRegistered: "never registered"
    case .tokenRejected: "token rejected"
    case .pushRefused: "push refused"
    }
  }
}
