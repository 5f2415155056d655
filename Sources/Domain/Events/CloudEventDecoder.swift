import JSON

/// Reads domain events: CloudEvents 1.0 with a subject and, if there are any, JSON data. Keeps its buffers: one per
/// thread.
public final class CloudEventDecoder {
  private let reader = CloudEventReader()
  private var flattener = FieldFlattener()

  public init() {}

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
