/// The change that an event makes to what a kind displays of its subject, as the fingerprints before and after the event.
package struct DisplayedChange: Equatable, Sendable {
  /// The fingerprint before the event; 0 when nothing was known about the subject.
  package var before: UInt64 = 0
  /// The fingerprint after the event.
  package var after: UInt64 = 0

  /// Creates a change.
  /// - Parameters:
  ///   - before: The fingerprint before the event; 0 when nothing was known about the subject.
  ///   - after: The fingerprint after the event.
  package init(before: UInt64, after: UInt64) {
    self.before = before
    self.after = after
  }

  /// Returns the fingerprint of all subjects behind one interest key after this change. A key such as an airport's covers
  /// many subjects. Its fingerprint is the exclusive or of their fingerprints, so it returns to an earlier value only when
  /// every subject looks again as it did then.
  /// - Parameter all: The fingerprint of the key before the change; 0 when no event has carried the key yet.
  @inline(__always)
  package func applied(to all: UInt64) -> UInt64 { all == 0 ? after : all ^ before ^ after }
}
