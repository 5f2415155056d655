public import Domain

/// The limits on the age and the size of what a store keeps. Nil: no limit.
public struct Retention: Equatable, Sendable {
  /// The greatest age of a row: the time of the newest row minus its own. The clock plays no part.
  public var ageMax: TimeSpan?
  /// The greatest number of bytes in use. Above it the oldest rows are removed.
  public var bytesMax: Int64?
  /// The number of sequence numbers that one transaction covers. Another writer waits for one transaction at most, which
  /// took 30 ms when measured, and 130 ms at worst.
  public var chunkRows: Int64
  /// The greatest number of transactions of one call; nil: as many as are needed.
  public var chunksMax: Int?

  /// - Parameters:
  ///   - ageMax: the greatest age of a row.
  ///   - bytesMax: the greatest number of bytes in use.
  ///   - chunkRows: the number of sequence numbers of one transaction; less than 1 counts as 1.
  ///   - chunksMax: the greatest number of transactions of one call.
  public init(ageMax: TimeSpan? = nil, bytesMax: Int64? = nil, chunkRows: Int64 = 5_000, chunksMax: Int? = nil) {
    self.ageMax = ageMax
    self.bytesMax = bytesMax
    self.chunkRows = max(1, chunkRows)
    self.chunksMax = chunksMax
  }

  /// The result of one call of `AuditStore.retain`.
  public struct Report: Equatable, Sendable {
    /// The number of decisions removed.
    public var decisions = 0
    /// The number of commands removed.
    public var commands = 0
    /// The number of bytes in use before the call.
    public var bytesBefore: Int64 = 0
    /// The number of bytes in use after the call.
    public var bytesAfter: Int64 = 0
    /// The time before which rows were removed for their age; nil without `ageMax`.
    public var cutoff: Timestamp?
    /// Whether everything was removed that the limits ask for. If not, `chunksMax` ended the call; call again.
    public var isComplete = true
  }
}
