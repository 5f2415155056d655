public import Installation

/// The size of a compacted topic beside the size of what can be alive in it.
///
/// **Threshold.** The cleaner does not keep up with a part of the topic when the records older than `settledAge` take more than
/// three times the bytes that can be alive, and four segments. Nothing else counts, so that there is no false alarm: neither
/// what a burst has just brought, nor a small topic, nor the newest segment, which the cleaner never touches. Segments are
/// compressed on disk, and records are counted as they are read; hence four of them.
public struct CompactedTopic: Equatable, Sendable {
  /// A part of the topic for which it is known how many bytes can be alive: a partition, or all partitions together.
  public struct Part: Equatable, Sendable {
    /// The number of the partition; nil for all partitions together.
    public var partition: Int32?
    /// The number of partitions in the part.
    public var partitionCount = 1
    /// The estimated number of records.
    public var records: Int64
    /// The estimated size of all records, uncompressed. Bytes.
    public var bytes: Int64
    /// The estimated size of the records older than `settledAge`. Bytes.
    public var settledBytes: Int64
    /// The size of the records that can be alive; nil if nothing states it. Bytes.
    public var livingBytes: Int64?
  }

  /// The age of records that the cleaner should have passed.
  public static let settledAge = Duration.seconds(3600)

  /// The name of the topic.
  public var topic: String
  /// The size of a segment of the topic, as the broker is configured. Bytes.
  public var segmentBytes: Int64
  /// The parts of the topic, in the order of their partitions.
  public var parts: [Part]
  /// The partitions that were not measured, because the time was over.
  public var unmeasured: [Int32] = []

  /// The estimated number of records of all parts.
  public var records: Int64 { parts.reduce(0) { $0 + $1.records } }
  /// The estimated size of all parts. Bytes.
  public var bytes: Int64 { parts.reduce(0) { $0 + $1.bytes } }
  /// The size of the records that can be alive in all parts; nil if it is not known of one of them. Bytes.
  public var livingBytes: Int64? {
    let known = parts.compactMap(\.livingBytes)
    return known.count == parts.count ? known.reduce(0, +) : nil
  }

  /// Returns the size that the records of a part older than `settledAge` may have; nil if nothing states what can be alive.
  ///
  /// - Parameter part: A part of this topic.
  public func allowedBytes(_ part: Part) -> Int64? {
    part.livingBytes.map { 3 * $0 + 4 * segmentBytes * Int64(part.partitionCount) }
  }

  /// The parts with which the cleaner does not keep up, as differences from the plan.
  public var problems: [TopicProblem] {
    parts.compactMap { part in
      guard let allowed = allowedBytes(part), part.settledBytes > allowed else { return nil }
      let what = TopicProblem.compaction + (part.partition.map { " of partition \($0)" } ?? "")
      return TopicProblem(
        topic: topic, what: what, expected: "at most \(Self.megabytes(allowed)) older than an hour",
        found: "about \(Self.megabytes(part.settledBytes))")
    }
  }

  /// Returns a size for people, in whole megabytes, rounded up.
  ///
  /// - Parameter bytes: The size in bytes.
  public static func megabytes(_ bytes: Int64) -> String { "\((bytes + 999_999) / 1_000_000) MB" }
}
