import Domain
import Policies

/// The content that a screen showed until a change reached it, one item for each change that came while the app was in the
/// foreground.
///
/// While an app is in the foreground its widgets show every change at once, for free. The signal that it has left may come late,
/// and what came after it had left was not shown. The items tell what the screens showed when it left: for each interest entry
/// the content before its first change after that. They are kept until the signal, the next visit, or the next push.
struct ShownBefore: Equatable {
  /// The largest number of changes that are kept for a device while its app is in the foreground.
  /// - Beyond: the oldest one is forgotten. If the app left before it, that change counts as shown.
  static let changesMax = 16

  /// The interest entry whose screen the change reached.
  var entry: EntrySlot
  /// The log time of the change.
  var at: Timestamp
  /// Whether the change would have been pushed if the app had not been in the foreground.
  var isWorthPush: Bool
  /// The content.
  var content: Content

  /// The content of a screen, as far as it is known.
  enum Content: Equatable {
    /// The value of each displayed field, and the head of rows of these fields (`Screens`).
    case fields([DisplayedValue], head: UInt64)
    /// The fingerprint of the content behind the key; none if no event had come yet.
    case fingerprint(KeyedHash)
  }
}
