public import Domain

/// The size of the state of one partition, as the record `p/clock` of `rouse.state` states it. `rouse topics check` compares it
/// with what the topic holds.
///
/// The numbers are the last `bytesCount` bytes of the record, eight bytes each, because only they depend on the grouping of
/// log records into commits:
///
///     first · next · bytes · live bytes      the chunks of devices
///     first · next · bytes · live bytes      the chunks of notes
///     devices
public struct StateExtent: Equatable, Sendable {
  /// The chunks of one sort.
  public struct Chunks: Equatable, Sendable {
    /// The numbers of the chunks that count, oldest first.
    public var numbers: Range<Int64> = 0..<0
    /// The size of these chunks, with `recordBytes` for each. Bytes.
    public var bytes: Int64 = 0
    /// The size of what lives in them, rounded down; for notes without the additions. Bytes.
    public var liveBytes: Int64 = 0
  }

  /// The approximate cost of a record in addition to its key and value, in the topic and in memory. Bytes.
  public static let recordBytes = 64
  /// The size of the numbers in the record. Bytes.
  static let bytesCount = 72

  /// The chunks of devices.
  public var deviceChunks = Chunks()
  /// The chunks of notes about subjects.
  public var noteChunks = Chunks()
  /// The number of devices.
  public var devices: Int64 = 0

  /// The size of all records that the partition of `rouse.state` has to keep. A few records are left out: those of kinds, apps,
  /// the policy, the clock and the position. Bytes.
  public var bytes: Int64 { deviceChunks.bytes + noteChunks.bytes }
  /// The size of what lives in these records. Bytes.
  public var liveBytes: Int64 { deviceChunks.liveBytes + noteChunks.liveBytes }

  /// Creates the extent of an empty state.
  package init() {}

  /// Reads the extent.
  /// - Parameter clock: The value of the record `p/clock`.
  /// - Throws: `BinaryError` for a value that no planner writes.
  public init(clock: [UInt8]) throws(BinaryError) {
    var reader = BinaryReader(clock, in: max(0, clock.count - Self.bytesCount)..<clock.count)
    deviceChunks = try Self.chunks(&reader)
    noteChunks = try Self.chunks(&reader)
    devices = try Self.size(&reader)
  }

  private static func chunks(_ reader: inout BinaryReader) throws(BinaryError) -> Chunks {
    let first = try reader.int64("the number of a chunk")
    let next = try reader.int64("the number of a chunk")
    guard first >= 0, next >= first, next < 1 << 62, next - first < 1 << 31 else {
      throw .corrupt(offset: reader.offset, what: "chunks in the order of writing")
    }
    return Chunks(numbers: first..<next, bytes: try size(&reader), liveBytes: try size(&reader))
  }

  private static func size(_ reader: inout BinaryReader) throws(BinaryError) -> Int64 {
    let size = try reader.int64("a size")
    // The sum of several must not overflow.
    guard 0..<(1 << 56) ~= size else { throw .corrupt(offset: reader.offset, what: "a size") }
    return size
  }

  /// Writes the numbers.
  func write(to binary: inout BinaryWriter) {
    for chunks in [deviceChunks, noteChunks] {
      binary.int64(chunks.numbers.lowerBound)
      binary.int64(chunks.numbers.upperBound)
      binary.int64(chunks.bytes)
      binary.int64(chunks.liveBytes)
    }
    binary.int64(devices)
  }
}

extension Fleet {
  /// See `Planner.stateExtent`.
  var stateExtent: StateExtent {
    var extent = StateExtent()
    extent.deviceChunks = StateExtent.Chunks(
      numbers: deviceChunks.first..<deviceChunks.next, bytes: Int64(deviceChunks.bytes),
      liveBytes: Int64(deviceChunks.liveBytes))
    extent.noteChunks = StateExtent.Chunks(
      numbers: subjects.log.first..<subjects.log.next, bytes: Int64(subjects.log.bytes),
      liveBytes: Int64(subjects.log.liveBytes))
    extent.devices = Int64(registry.deviceCount)
    return extent
  }
}
