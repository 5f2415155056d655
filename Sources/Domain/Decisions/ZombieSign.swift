/// The sign by which a Live Activity is known to be a zombie: one that runs and that no push can update or end.
public enum ZombieSign: String, Sendable, CaseIterable {
  /// A push started it, and the device has not registered it within half an hour.
  case neverRegistered
  /// APNs has permanently refused its token.
  case tokenRejected

  /// The words for people.
  public var text: String {
    switch self {
    case .neverRegistered: "never registered"
    case .tokenRejected: "token rejected"
    }
  }
}
