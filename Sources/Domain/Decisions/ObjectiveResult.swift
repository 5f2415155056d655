/// The result of one change against the objective of its kind, on the decision that closes the change.
///
/// A change counts if it waited, or was pushed at once, and its relevance reaches `wrongAtLeast`. It is counted once, by its final decision.
public enum ObjectiveResult: String, Sendable, CaseIterable {
  /// The screen showed the change, or was right without it, within `freshWithin` of the arrival of its event.
  case met
  /// The screen was right later than that, or the event expired unshown.
  case missed
}
