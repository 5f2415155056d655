import Installation

/// The parts that work with the cluster, each with the permissions that it needs and no more.
package enum AccessRole: String, CaseIterable, Sendable {
  /// A process with this role of `rouse run`.
  case intake, planner, audit, gateway, console
  /// `rouse topics create`.
  case create
  /// `rouse topics check`.
  case check
  /// `rouse policy apply`.
  case policy
  /// `rouse dead-letters list` and `rouse dead-letters show`.
  case deadLetters = "dead-letters"
  /// `rouse dead-letters replay`.
  case replay
  /// `rouse skip`.
  case skip
  /// `rouse verify` on the topics.
  case verify
  /// `rouse log export`.
  case export
  /// The data teams' programs.
  case publisher
  /// The app backend.
  case backend
  /// The program that sends the commands to APNs.
  case sender

  /// The program or command that takes the role, for people.
  package var user: String {
    switch self {
    case .intake, .planner, .audit, .gateway, .console: "`rouse run` with the role `\(rawValue)`"
    case .create: "`rouse topics create`"
    case .check: "`rouse topics check`"
    case .policy: "`rouse policy apply`"
    case .deadLetters: "`rouse dead-letters list`, `rouse dead-letters show`"
    case .replay: "`rouse dead-letters replay`"
    case .skip: "`rouse skip`"
    case .verify: "`rouse verify`"
    case .export: "`rouse log export`"
    case .publisher: "the data teams' programs"
    case .backend: "the app backend"
    case .sender: "the sender"
    }
  }
}
