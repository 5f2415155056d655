import JSON

/// Reads domain events: CloudEvents 1.0 with a subject and, optionally, JSON data. A decoder keeps its buffers for the next
/// record, so every thread needs its own.
public final class CloudEventDecoder {
  private let reader = CloudEventReader()
  private var flattener = FieldFlattener()

  /// Creates a decoder.
  public init() {}

  /// Reads one record.
  /// - Throws: `DomainError` with the path of the first field that is missing or wrong.
  public func decode(_ record: CloudEventRecord) throws(DomainError) -> DomainEvent {
    try reader.read(record) { (attributes, data) throws(DomainError) in
      guard let subject = attributes.subject else {
        throw DomainError(
          .missingField, path: attributes.subjectPath,
          message: "missing; expected a string: what the event is about, such as \"flight/UA1545/2013-07-01\"")
      }
      return DomainEvent(
        id: attributes.id, source: attributes.source, type: attributes.type, subject: subject, time: attributes.time,
        traceparent: attributes.traceparent, fields: try fields(of: data))
    }
  }

  private func fields(of data: JSONNode?) throws(DomainError) -> [EventField] {
    guard let data else { return [] }
    return try flattener.fields(of: data)
  }
}
