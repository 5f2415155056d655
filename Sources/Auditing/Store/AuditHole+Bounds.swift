import Domain

extension AuditHole {
  /// The number of holes that a store keeps. A hole is a range of offsets of one topic partition whose records the
  /// store will never have.
  /// - Beyond: the hole is not stored; only a critical line of the log tells of it.
  static let storedMax = 10_000
  /// The number of holes that a summary lists.
  /// - Beyond: the records of further holes are only counted.
  static let listedMax = 100
}
