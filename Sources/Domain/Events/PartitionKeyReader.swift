/// Reads the CloudEvents extension `partitionkey` of events.
/// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/extensions/partitioning.md
///
/// The Kafka binding of CloudEvents makes it the key of the record. A reader keeps its buffers for the next record, so every thread
/// needs its own.
public final class PartitionKeyReader {
  private let reader = CloudEventReader()

  /// Creates a reader.
  public init() {}

  /// Returns the partition key of an event.
  ///
  /// - Parameter record: The event, which a decoder has accepted.
  /// - Returns: The key; nil if the event has none.
  /// - Throws: `DomainError` if the extension is not a string of 1 to 256 bytes.
  public func key(of record: CloudEventRecord) throws(DomainError) -> String? {
    try reader.partitionKey(of: record)
  }
}
