package import Domain

/// The place of a policy record in the log, ordered by age. Offsets of different partitions say nothing about time, so the time of the record
/// decides first, and the offset only between records of the same time: with `timestamps` set to `event` all policy records have the same.
package struct PolicyPlace: Comparable, Sendable {
  private let at: Timestamp
  private let offset: Int64
  private let partition: Int32

  /// States a place.
  ///
  /// - Parameters:
  ///   - at: The time of the record; nil counts as the beginning of 1970.
  ///   - offset: The offset.
  ///   - partition: The partition.
  package init(at: Timestamp?, offset: Int64, partition: Int32) {
    self.at = at ?? Timestamp(microseconds: 0)
    self.offset = offset
    self.partition = partition
  }

  /// Whether the record on the left is older.
  package static func < (left: PolicyPlace, right: PolicyPlace) -> Bool {
    (left.at, left.offset, right.partition) < (right.at, right.offset, left.partition)
  }
}
