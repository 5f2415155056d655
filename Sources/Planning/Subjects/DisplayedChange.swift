/// The change that an event makes to what a kind displays of its subject, as the fingerprints before and after the event.
package struct DisplayedChange: Equatable, Sendable {
  /// The fingerprint before the event; none when nothing was known about the subject.
  package var before = KeyedHash.none
  /// The fingerprint after the event.
  package var after = KeyedHash.none

  /// Creates a change.
  /// - Parameters:
  ///   - before: The fingerprint before the event; none when nothing was known about the subject.
  ///   - after: The fingerprint after the event.
  package init(before: KeyedHash, after: KeyedHash) {
    self.before = before
    self.after = after
  }

  /// Returns the fingerprint of all subjects behind one interest key after this change. A key such as an airport's covers
  /// many subjects. Its fingerprint is the exclusive or of their fingerprints, so it returns to an earlier value only when
  /// every subject looks again as it did then.
  /// - Parameter all: The fingerprint of the key before the change; none when no event has carried the key yet.
  package func applied(to all: KeyedHash) -> KeyedHash { all.isNone ? after : all ^ before ^ after }
}
