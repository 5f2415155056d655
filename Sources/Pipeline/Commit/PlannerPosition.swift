public import Domain
public import Planning

/// The position of a planner in its log partition. It is the last record of each transaction, so that state and position always
/// agree.
struct PlannerPosition: Equatable {
  /// The key of the record in `rouse.state`.
  static let key = Array("p/position".utf8)
  private static let formatVersion: UInt8 = 3

  /// The offset of the next log record to read; with a cursor, the offset of the record that is half done.
  var nextOffset: Int64 = 0
  /// The progress within a half-done record; nil between two records.
  var cursor: RecordCursor?
  /// The highest offset seen of each partition of the source topics. By it the planner drops a record that intake
  /// appends again after a crash.
  var origins: [OriginPartition: OriginMark] = [:]
  /// The timestamp of the first record ever planned in this partition, in µs since 1970; nil before that record. It
  /// distinguishes a log and its state from others of the same name, such as topics that were deleted and created
  /// again.
  var birth: Int64?

  /// A partition of a topic that intake reads.
  struct OriginPartition: Hashable, Comparable {
    var topic: String
    var partition: Int32

    static func < (a: OriginPartition, b: OriginPartition) -> Bool { (a.topic, a.partition) < (b.topic, b.partition) }

    /// Hashes the partition and the length of the topic's name only: there are few topics, and every record is looked up.
    func hash(into hasher: inout Hasher) {
      hasher.combine(partition)
      hasher.combine(topic.utf8.count)
    }
  }

  /// Makes the position before the first record.
  init() {}

  /// Notes the origin of the current log record.
  ///
  /// - Parameter origin: The place of the record in its source topic.
  /// - Returns: Whether the record is new: no record of the same source partition and generation with this offset or a
  ///   higher one was noted before.
  mutating func note(_ origin: Origin) -> Bool {
    origins[OriginPartition(topic: origin.topic, partition: origin.partition), default: OriginMark(before: origin)]
      .note(origin)
  }

  /// Checks what holds for every position.
  ///
  /// - Returns: A sentence for each violated invariant; empty when all hold.
  func checkInvariants() -> [String] {
    var violations: [String] = []
    if nextOffset < 0 { violations.append("the next offset is \(nextOffset)") }
    if (birth == nil) != (nextOffset == 0) {
      violations.append("the next offset is \(nextOffset) with a birth of \(birth.map { "\($0)" } ?? "none")")
    }
    for (origin, mark) in origins.sorted(by: { $0.key < $1.key }) where mark.offset < 0 {
      violations.append("the highest offset of \(origin.topic)[\(origin.partition)] is \(mark.offset)")
    }
    return violations
  }

  /// Returns the position as the value of its state record.
  func encoded() -> [UInt8] {
    var writer = BinaryWriter()
    writer.uint8(Self.formatVersion)
    var position = self
    position.fields(&writer)
    return writer.bytes
  }

  /// Reads a position.
  ///
  /// - Parameter bytes: The value of its state record.
  /// - Throws: `BinaryError` for bytes of another format or of a newer release.
  init(bytes: [UInt8]) throws(BinaryError) {
    var reader = BinaryReader(bytes)
    let version = try reader.uint8("a format version")
    guard version <= Self.formatVersion else {
      throw .newerVersion(found: version, newestKnown: Self.formatVersion)
    }
    guard version == Self.formatVersion else {
      throw .corrupt(offset: 0, what: "format version \(Self.formatVersion), not \(version)")
    }
    try fields(&reader)
    guard origins.values.allSatisfy({ $0.offset >= 0 }) else {
      throw .corrupt(offset: 1, what: "highest offsets from 0 on")
    }
    guard (0..<Int64.max).contains(nextOffset) else { throw .corrupt(offset: 1, what: "an offset") }
    // Every decision of the record gets a larger one.
    guard (cursor?.nextOrdinal ?? 0) <= UInt32.max / 2 else { throw .corrupt(offset: 1, what: "an ordinal") }
    try reader.end()
  }

  /// Encodes or decodes each field after the format version.
  private mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.zigzag(&nextOffset, "an offset")
    try coder.optional(&cursor, "whether there is a cursor")
    var highest = origins.sorted { $0.key < $1.key }.map {
      Origin(topic: $0.topic, partition: $0.partition, offset: $1.offset, generation: $1.generation)
    }
    try coder.list(&highest)
    if Coder.reads {
      for origin in highest {
        origins[OriginPartition(topic: origin.topic, partition: origin.partition)] = OriginMark(
          generation: origin.generation, offset: origin.offset)
      }
    }
    try coder.zigzag(&birth, "the timestamp of the first record")
  }
}

extension RecordCursor: FieldCoded {
  /// An empty cursor that a decoder fills in.
  public static var blank: RecordCursor { RecordCursor(nextOrdinal: 0, nextDevice: nil, standing: 0) }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.varint(&nextOrdinal, "an ordinal")
    var hasDevice = nextDevice != nil
    try coder.bool(&hasDevice, "whether there is a device")
    var device = nextDevice ?? 0
    try coder.varint(&device, "a device")
    if Coder.reads { nextDevice = hasDevice ? device : nil }
    try coder.uint8(&standing, "a standing")
  }
}
