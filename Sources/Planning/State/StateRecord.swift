public import Domain

/// The value of a record of `rouse.state` that is read when the restore finishes.
public struct StateRecord {
  /// The value.
  public let bytes: [UInt8]
  /// The offset of the record in the topic; 0 for a record of a local snapshot.
  public let offset: Int64

  /// Reads the record, and names it in an error.
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - body: Reads the value.
  /// - Returns: The result of `body`.
  /// - Throws: `StateRecordError` for an error of `body`.
  public func read<Result>(
    as key: [UInt8], _ body: ([UInt8]) throws(BinaryError) -> Result
  ) throws(StateRecordError) -> Result {
    do throws(BinaryError) { return try body(bytes) } catch {
      throw StateRecordError(key: key, offset: offset, cause: error)
    }
  }
}
