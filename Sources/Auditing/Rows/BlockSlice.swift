import Domain

/// A block of sequence numbers that may hold rows of a time range.
struct BlockSlice {
  /// The number of the block.
  var n: Int64
  /// Whether the time of every row in the block lies in the range.
  var isWhole: Bool
  var firstSeq: Int64 { n << AuditSchema.blockShift }
  /// The first sequence number after the block.
  var endSeq: Int64 { n.addingSaturating(1) << AuditSchema.blockShift }
}
