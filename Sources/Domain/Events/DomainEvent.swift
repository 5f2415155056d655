/// One accepted CloudEvents 1.0 record: something changed about a *subject*. Its JSON data is flattened to scalar fields
/// so that planners never parse JSON.
public struct DomainEvent: Equatable, Sendable {
  /// CloudEvents `id`; unique within `source`.
  public var id: String
  public var source: String
  public var type: String
  /// CloudEvents `subject`; the first interest key of the event.
  public var subject: String
  /// CloudEvents `time`: when it happened. Intake fills in the record's timestamp where the publisher gave none.
  public var time: Timestamp
  /// W3C trace context, carried to decisions and commands.
  public var traceparent: String?
  /// Scalars of `data`, named by path (`data.delayMinutes`, `data.home.passes`), sorted by path. At most
  /// `DomainBounds.eventFieldsMax`; arrays are flattened by index (`data.legs.0.gate`).
  public var fields: [EventField]

  public init(
    id: String, source: String, type: String, subject: String, time: Timestamp, traceparent: String? = nil,
    fields: [EventField] = []
  ) {
    self.id = id
    self.source = source
    self.type = type
    self.subject = subject
    self.time = time
    self.traceparent = traceparent
    self.fields = fields
  }

  /// The value at a path, by binary search; nil where the event has no such scalar.
  public func value(at path: String) -> FieldValue? {
    var low = 0
    var high = fields.count
    while low < high {
      let middle = (low + high) / 2
      if fields[middle].path < path { low = middle + 1 } else { high = middle }
    }
    return low < fields.count && fields[low].path == path ? fields[low].value : nil
  }
}

/// One scalar of an event's data.
public struct EventField: Equatable, Sendable {
  public var path: String
  public var value: FieldValue

  public init(path: String, value: FieldValue) {
    self.path = path
    self.value = value
  }
}

/// A JSON scalar.
public enum FieldValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
}
