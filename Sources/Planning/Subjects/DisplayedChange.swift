/// How an event changes what a kind displays of its subject: the fingerprints before and after it.
package struct DisplayedChange: Equatable, Sendable {
  /// 0 where nothing was known of the subject.
  package var before: UInt64 = 0
  package var after: UInt64 = 0

  package init(before: UInt64, after: UInt64) {
    self.before = before
    self.after = after
  }

  /// Returns the fingerprint of everything that came by one interest key, after this change. A key such as an airport's
  /// leads to many subjects: the fingerprint is the exclusive or of theirs, so it returns to what it was only when each
  /// subject looks again as it did.
  /// - Parameter all: The fingerprint before the change; 0 where no event came by the key yet.
  @inline(__always)
  package func applied(to all: UInt64) -> UInt64 { all == 0 ? after : all ^ before ^ after }
}
