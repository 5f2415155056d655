/// The highest offset that was seen of a source partition. By it, a record that intake appends again after a crash is dropped.
public struct OriginMark: Hashable, Sendable {
  /// The generation of the partition: a number that changes when its topic is deleted and made again; 0 if it is not
  /// known.
  public var generation: Int64
  /// The highest offset that was seen in this generation.
  public var offset: Int64

  /// Makes a mark.
  /// - Parameters:
  ///   - generation: The generation; 0 if it is not known.
  ///   - offset: The highest offset that was seen.
  public init(generation: Int64, offset: Int64) {
    self.generation = generation
    self.offset = offset
  }

  /// Makes the mark before the first record of a source partition.
  /// - Parameter origin: The place of that record.
  public init(before origin: Origin) { self.init(generation: origin.generation, offset: .min) }

  /// Notes the origin of a record.
  /// - Parameter origin: The place of the record in its source topic.
  /// - Returns: Whether the record is new: no record of the same generation with this offset or a higher one was noted before. An origin
  ///   whose generation is not known counts as one of the last generation.
  public mutating func note(_ origin: Origin) -> Bool {
    let isOther = origin.generation != 0 && origin.generation != generation
    guard isOther || origin.offset > offset else { return false }
    if isOther { generation = origin.generation }
    offset = origin.offset
    return true
  }
}
