package import Domain
package import Installation
package import KafkaClient
import Policies

/// Reads the policies that the log holds. It only reads: it appends no record, commits no offset and joins no group.
package struct PolicyLog {
  /// A policy record of the log.
  package struct PolicyRecord: Sendable, Equatable {
    package var partition: Int32
    package var offset: Int64
    /// The timestamp of the record; nil if it has none, as in a log that is replayed in event time.
    package var at: Timestamp?
    /// The version and the hash; nil if this release does not accept the policy.
    package var reference: PolicyReference?
    /// The id of the key of whoever applied it over HTTP; nil if it was applied otherwise.
    package var appliedBy: String?
    /// The complete text: the policy and its profile.
    package var text: String

    /// The place, which is the greatest for the newest record.
    package var place: PolicyPlace { PolicyPlace(at: at, offset: offset, partition: partition) }
  }

  /// The policy records of a partition that were read.
  package struct PolicyTrail: Sendable, Equatable {
    /// The records, the newest first.
    package var records: [PolicyRecord] = []
    /// Whether no older record was left out.
    package var isComplete = true
    /// The offset behind the last record that was read.
    package var next: Int64 = 0

    /// The most policies that are kept.
    /// - Beyond: the oldest are forgotten.
    static let recordsMax = 200

    /// Adds records that were read since, in the order of the log.
    mutating func add(_ newer: [PolicyRecord]) {
      records = newer.reversed() + records
      guard records.count > Self.recordsMax else { return }
      records.removeLast(records.count - Self.recordsMax)
      isComplete = false
    }
  }

  /// The numbers of offsets before the end of a partition in which the newest policy is looked for, one after the other.
  /// - Beyond: a policy that was applied before more records than these is not found.
  private static let windows: [Int64] = [64, 4096, 65_536]
  /// The longest wait for the next record.
  /// - Beyond: the question fails, and can be asked again.
  private static let patience = Duration.seconds(4)
  private let settings: ClusterSettings

  /// Makes a reader.
  ///
  /// - Parameter settings: The log, and how to reach Kafka.
  package init(settings: ClusterSettings) { self.settings = settings }

  /// Returns the newest policy record of each partition in which one was found, by partition, and the number of partitions.
  ///
  /// - Throws: `KafkaError` if the log cannot be read.
  package func active() throws(KafkaError) -> (records: [PolicyRecord], partitions: Int) {
    let bounds = try bounds()
    var found: [Int32: PolicyRecord] = [:]
    for window in Self.windows {
      var starts: [KafkaTopicPartition: Int64] = [:]
      for (partition, marks) in bounds where found[partition.partition] == nil && marks.high > marks.low {
        starts[partition] = max(marks.low, marks.high - window)
      }
      if starts.isEmpty { break }
      try read(from: starts) { found[$0.partition] = $0 }
    }
    return (found.values.sorted { $0.partition < $1.partition }, bounds.count)
  }

  /// Returns the newest policy record of all partitions; nil if there is none.
  ///
  /// - Throws: `KafkaError` if the log cannot be read.
  package func newest() throws(KafkaError) -> PolicyRecord? { try active().records.max { $0.place < $1.place } }

  /// Returns the policy records of the last records of the first partition, the newest first. Each policy is appended to every partition.
  ///
  /// - Parameter known: The records that were read before, to which those that came since are added; nil to begin anew.
  /// - Throws: `KafkaError` if the log cannot be read.
  package func history(continuing known: PolicyTrail? = nil) throws(KafkaError) -> PolicyTrail {
    guard let (partition, marks) = try bounds().min(by: { $0.key.partition < $1.key.partition }),
      let window = Self.windows.last
    else { return PolicyTrail() }
    // An end before what was read: the topic was made anew.
    var trail = known.map { $0.next <= marks.high ? $0 : PolicyTrail() } ?? PolicyTrail()
    let start = max(marks.low, marks.high - window, trail.next)
    if start > trail.next { trail.isComplete = false }
    trail.next = marks.high
    guard start < marks.high else { return trail }
    var records: [PolicyRecord] = []
    try read(from: [partition: start]) { records.append($0) }
    trail.add(records)
    return trail
  }

  private func bounds() throws(KafkaError) -> [KafkaTopicPartition: KafkaWatermarks] {
    let consumer = try KafkaConsumer(settings.client(["group.id": settings.readerGroup]))
    defer { consumer.close(timeout: .seconds(2)) }
    var bounds: [KafkaTopicPartition: KafkaWatermarks] = [:]
    for number in try 0..<settings.logPartitionCount() {
      let partition = KafkaTopicPartition(topic: settings.topics.log, partition: number)
      bounds[partition] = try consumer.watermarks(of: partition, timeout: Self.patience)
    }
    return bounds
  }

  private func read(
    from starts: [KafkaTopicPartition: Int64], _ take: (PolicyRecord) -> Void
  ) throws(KafkaError) {
    try TopicReader(settings: settings, patience: Self.patience).read(from: starts) { message in
      guard let value = message.value, LogRecord.isPolicy(value),
        case .policy(let text)? = try? LogRecord(bytes: value).content
      else { return }
      let name = message.headers.last { $0.name == PolicyAppender.appliedByHeader }?.value
      take(
        PolicyRecord(
          partition: message.partition, offset: message.offset,
          at: message.timestampMilliseconds.map { Timestamp(milliseconds: $0) }.flatMap { $0.seconds > 0 ? $0 : nil },
          reference: try? PolicyDocument(record: text, file: "the log").policy.reference,
          appliedBy: name.map { String(decoding: $0, as: UTF8.self) }, text: text))
    }
  }
}

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
